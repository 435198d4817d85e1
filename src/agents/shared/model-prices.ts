import { type Price, type PriceList, type PriceOrigin, price } from '../../domain/money/prices.ts'

/** Where the list below comes from. */
export const priceOrigin: PriceOrigin = {
  asOf: '2025-11',
  sources: ['claude.com/pricing', 'openai.com/api/pricing', 'ai.google.dev/pricing'],
}

/** Anthropic asks twice the input for what stays in the cache for an hour, and a cent for a search. */
const claude = (input: number, output: number): Price => ({
  ...price(input, output, input / 10, input * 1.25),
  cacheWriteHour: input * 2,
  pieces: { web_search_requests: 0.01, web_fetch_requests: 0 },
})

/** OpenAI asks a cent for a search, and Google three and a half for an answer that rests on searches. */
const openai = (maxOutput: number, price: Price): Price => ({
  ...writing(maxOutput, price),
  pieces: { web_search_requests: 0.01 },
})
const gemini = (maxOutput: number, price: Price): Price => ({ ...writing(maxOutput, price), pieces: { grounded_prompts: 0.035 } })

const writing = (maxOutput: number, price: Price): Price => ({ ...price, maxOutput })

/** Both ask more for a call into which more than 200000 tokens go. */
const longer = (short: Price, long: Price): Price => ({ ...short, long: { above: 200_000, price: long } })

/**
 * What makers ask for well-known models, in US dollars for a million tokens, as they listed it in November 2025. Prices change: `prices:` in the settings wins over this.
 */
export const modelPrices: PriceList = {
  'claude-opus-4-5*': claude(5, 25),
  'claude-opus-4*': { ...claude(15, 75), isRare: true },
  'claude-opus-4-1*': { ...claude(15, 75), isRare: true },
  'claude-sonnet-4*': longer(claude(3, 15), claude(6, 22.5)),
  'claude-sonnet-4-5*': longer(claude(3, 15), claude(6, 22.5)),
  'claude-3-7-sonnet*': claude(3, 15),
  'claude-haiku-4-5*': claude(1, 5),
  'claude-3-5-haiku*': claude(0.8, 4),
  'gpt-5*': openai(128_000, price(1.25, 10, 0.125)),
  'gpt-5-codex*': openai(128_000, price(1.25, 10, 0.125)),
  'gpt-5.1*': openai(128_000, price(1.25, 10, 0.125)),
  'gpt-5.1-codex*': openai(128_000, price(1.25, 10, 0.125)),
  'gpt-5-mini*': openai(128_000, price(0.25, 2, 0.025)),
  'gpt-5-nano*': openai(128_000, price(0.05, 0.4, 0.005)),
  'gpt-5-pro*': { ...openai(272_000, price(15, 120)), isRare: true },
  'codex-mini*': openai(100_000, price(1.5, 6, 0.375)),
  'gpt-4.1*': openai(32_768, price(2, 8, 0.5)),
  'gpt-4.1-mini*': openai(32_768, price(0.4, 1.6, 0.1)),
  'o3*': openai(100_000, price(2, 8, 0.5)),
  'o4-mini*': openai(100_000, price(1.1, 4.4, 0.275)),
  'gemini-2.5-pro*': gemini(65_536, longer(price(1.25, 10, 0.31), price(2.5, 15, 0.625))),
  'gemini-2.5-flash*': gemini(65_536, price(0.3, 2.5, 0.075)),
}
