import { z } from 'zod'
import type { Login } from '../port.ts'
import { parseJson } from '../shared/json.ts'

export const login: Login = {
  variables: ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'CLAUDE_CODE_OAUTH_TOKEN'],
  files: [
    {
      path: '.claude/.credentials.json',
      newness: (text) => readCredentials(text)?.expiresAt,
      // One that names no end does not end.
      expiresAt: (text) => readCredentials(text)?.expiresAt || undefined,
      account: (text) => JSON.stringify([readCredentials(text)?.subscriptionType, readCredentials(text)?.scopes]),
    },
  ],
  script: true,
}

const Credentials = z.object({
  claudeAiOauth: z.object({
    accessToken: z.string().min(1),
    expiresAt: z.number().nonnegative().catch(0),
    subscriptionType: z.unknown().optional(),
    scopes: z.unknown().optional(),
  }),
})

/** Undefined if the text is no login. Each renewal brings a later end, so of two versions the one that ends later is the newer one. */
export function readCredentials(text: string): z.infer<typeof Credentials>['claudeAiOauth'] | undefined {
  const parsed = parseJson(text)
  return 'fault' in parsed ? undefined : Credentials.safeParse(parsed.value).data?.claudeAiOauth
}
