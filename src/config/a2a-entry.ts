import { z } from 'zod'

const port = 'must be a port, 0 for any that is free'

/** How other agents reach the agents of this home by A2A. */
export const A2AEntry = z.strictObject({
  enabled: z.boolean().optional().describe('Whether A2A is spoken at all; it is if left out.'),
  url: z
    .url({ protocol: /^https?$/, error: 'must be an address such as https://pawl.example.com' })
    .optional()
    .describe('The address of this daemon as others see it, for the cards; where it listens if left out.'),
  publicCards: z
    .boolean()
    .optional()
    .describe(
      'Shows the cards of the daemon and of its agents, and the key that they are signed with, to everybody who can reach the daemon. Without it they need a token, as a task does.',
    ),
  grpcPort: z
    .int({ error: port })
    .min(0, { error: port })
    .max(65_535, { error: port })
    .optional()
    .describe('The port on which A2A is also spoken over gRPC; on none if left out, on any that is free with 0.'),
  push: z
    .strictObject({
      allowPrivate: z
        .boolean()
        .optional()
        .describe(
          'Push notifications may go to this machine or a private network, and without TLS. Whoever may hand in a task can then have Pawl speak to what is there.',
        ),
    })
    .optional()
    .describe('What holds for the push notifications that clients ask for.'),
})
type A2AEntry = z.output<typeof A2AEntry>

export interface A2ASettings {
  readonly enabled: boolean
  readonly url?: string | undefined
  readonly publicCards: boolean
  readonly grpcPort?: number | undefined
  readonly push: { readonly allowPrivate: boolean }
}

export const a2aOf = (entry: A2AEntry | null | undefined): A2ASettings => ({
  enabled: entry?.enabled ?? true,
  url: entry?.url?.replace(/\/+$/, ''),
  publicCards: entry?.publicCards ?? false,
  grpcPort: entry?.grpcPort,
  push: { allowPrivate: entry?.push?.allowPrivate ?? false },
})
