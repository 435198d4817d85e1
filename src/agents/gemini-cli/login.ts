import { z } from 'zod'
import type { CredentialFile, Login } from '../port.ts'
import { parseJson } from '../shared/json.ts'

const Credentials = z.object({
  access_token: z.string().min(1),
  expiry_date: z.number().nonnegative().catch(0),
  id_token: z.string().optional(),
})

const oauthFile: CredentialFile = {
  path: '.gemini/oauth_creds.json',
  newness: (text) => readCredentials(text)?.expiry_date,
  expiresAt: (text) => readCredentials(text)?.expiry_date || undefined,
  account: (text) => accountOf(readCredentials(text)?.id_token),
}

export const login: Login = { variables: ['GEMINI_API_KEY'], files: [oauthFile] }

/** Undefined if the text is no login. Each renewal brings a later end. */
export function readCredentials(text: string): z.infer<typeof Credentials> | undefined {
  const parsed = parseJson(text)
  return 'fault' in parsed ? undefined : Credentials.safeParse(parsed.value).data
}

/** Whose it is, from the middle part of the token that says so. */
function accountOf(token: string | undefined): string | undefined {
  const parsed = parseJson(Buffer.from(token?.split('.')[1] ?? '', 'base64url').toString())
  const subject = 'value' in parsed ? (parsed.value as { sub?: unknown } | null)?.sub : undefined
  return typeof subject === 'string' ? subject : undefined
}
