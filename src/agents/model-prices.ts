import { type PriceList, price } from '../domain/money/prices.ts'

/**
 * What makers ask for well-known models, in US dollars for a million tokens, as they listed it in November 2025. Prices change: `prices:` in the settings wins over this.
 */
export const modelPrices: PriceList = {
  'claude-opus-4-5*': price(5, 25, 0.5, 6.25),
  'claude-opus-4*': price(15, 75, 1.5, 18.75),
  'claude-sonnet-4*': price(3, 15, 0.3, 3.75),
  'claude-3-7-sonnet*': price(3, 15, 0.3, 3.75),
  'claude-haiku-4-5*': price(1, 5, 0.1, 1.25),
  'claude-3-5-haiku*': price(0.8, 4, 0.08, 1),
  'gpt-5*': price(1.25, 10, 0.125),
  'gpt-5-mini*': price(0.25, 2, 0.025),
  'gpt-5-nano*': price(0.05, 0.4, 0.005),
  'gpt-5-pro*': price(15, 120),
  'codex-mini*': price(1.5, 6, 0.375),
  'gpt-4.1*': price(2, 8, 0.5),
  'gpt-4.1-mini*': price(0.4, 1.6, 0.1),
  'o3*': price(2, 8, 0.5),
  'o4-mini*': price(1.1, 4.4, 0.275),
  'gemini-2.5-pro*': price(1.25, 10, 0.31),
  'gemini-2.5-flash*': price(0.3, 2.5, 0.075),
}
