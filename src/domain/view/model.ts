import { z } from 'zod'
import { providerKinds, wireNames } from '../agent/models.ts'

/** A model that the settings list, and whether it can be asked. */
export const ModelView = z.object({
  name: z.string(),
  aliases: z.array(z.string()),
  provider: z.string(),
  kind: z.enum(providerKinds),
  formats: z
    .array(z.enum(wireNames))
    .describe('What the provider is spoken to in; programs that speak another are translated for.'),
  target: z.string().describe("The provider's own name for it."),
  maxOutputTokens: z.number().nullable(),
  priced: z.boolean().describe('Whether its price is known; otherwise the dearest that is commonly used counts.'),
  key: z
    .enum(['set', 'missing', 'none'])
    .describe('Whether the key is where the settings say; `none` if the provider wants none.'),
  reach: z.object({ ok: z.boolean(), detail: z.string() }).nullable().describe('What the provider answered, if it was asked.'),
})
export type ModelView = z.infer<typeof ModelView>
