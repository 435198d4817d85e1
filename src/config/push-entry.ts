import { z } from 'zod'

const address = 'must be an address such as mailto:you@example.com or https://example.com'

/** How browsers are told. */
export const PushEntry = z.strictObject({
  contact: z
    .string()
    .regex(/^(mailto:[^\s@]+@[^\s@]+|https:\/\/\S+)$/, { error: address })
    .optional()
    .describe('Where a push service can reach you if something is wrong. Some want a real one.'),
  allowPrivate: z
    .boolean()
    .optional()
    .describe('A push service may be on this machine or in a private network, and without TLS. Only for one of your own.'),
})
type PushEntry = z.output<typeof PushEntry>

export interface PushSettings {
  readonly contact: string
  readonly allowPrivate: boolean
}

export const pushOf = (entry: PushEntry | null | undefined): PushSettings => ({
  contact: entry?.contact ?? 'mailto:pawl@example.com',
  allowPrivate: entry?.allowPrivate ?? false,
})
