import { z } from 'zod'

/** A key in the file of settings would be copied into every task; a host with a user is one in disguise. */
const url = z
  .string()
  .refine(
    (text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol),
    'must be the http or https address of an agent or of its card',
  )
  .refine(
    (text) => !URL.canParse(text) || (new URL(text).username === '' && new URL(text).password === ''),
    'must hold no key; name one in auth',
  )

export const A2aOptions = z
  .strictObject({
    url: url.describe('Where the remote agent is: its address, or that of its card.'),
    local: z
      .boolean()
      .default(false)
      .describe('Whether the names of its hosts may lead to this machine or a private network, and be asked without TLS.'),
    hosts: z
      .array(z.string().regex(/^[A-Za-z0-9.-]+(:\d{1,5})?$/, 'must be host or host:port'))
      .default([])
      .describe('Other hosts that its card may name; they get the key too. Left out: only the host of url.'),
    keyHeader: z
      .string()
      .regex(/^[A-Za-z0-9-]{1,100}$/, 'must be the name of a header')
      .optional()
      .describe('The header that the key is shown in, such as X-API-Key. Left out: Authorization, as a bearer token.'),
    keyVariable: z
      .string()
      .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be the name of a variable')
      .optional()
      .describe('The variable in which its profile gives it the key as a secret, in place of auth.'),
    metadata: z
      .record(z.string(), z.unknown())
      .optional()
      .describe(
        'What is told to the remote agent beside the words of each message, as it wants it; for one that is a Pawl, {"pawl": {"workspace": "…"}}.',
      ),
    verify: z
      .enum(['required', 'when-signed', 'off'])
      .optional()
      .describe(
        'Whether its card must be signed, is checked if it is signed, or is taken as it comes. Left out: required with cardKey, else when-signed.',
      ),
    cardKey: z
      .union([z.string().min(1), z.record(z.string(), z.unknown())])
      .optional()
      .describe('The public key that its card must be signed with: a JWK, or text in PEM.'),
  })
  .refine(({ verify, cardKey }) => verify !== 'off' || cardKey === undefined, {
    path: ['verify'],
    message: 'must not be off beside a cardKey',
  })
  .refine(({ url, local }) => local || !url.startsWith('http:') || isOwnAddress(new URL(url).hostname), {
    path: ['url'],
    message: 'must be https: what is said to it, and its key, could be read on the way; set local to true for a private network',
  })
export type A2aOptions = z.infer<typeof A2aOptions>

/** Nobody else can hear what is said to this machine itself. */
const isOwnAddress = (host: string) => /^127\.\d+\.\d+\.\d+$|^\[::1\]$/.test(host)

/** Whom the client may ask, as `new URL().host` writes them. */
export const hostsOf = ({ url, hosts }: A2aOptions): string[] => {
  const { protocol, host } = new URL(url)
  return [...new Set([host, ...hosts.map((other) => new URL(`${protocol}//${other}`).host)])]
}

/** The same as network rules. */
export function rulesOf(options: A2aOptions): string[] {
  const port = new URL(options.url).protocol === 'https:' ? 443 : 80
  return hostsOf(options).map((host) => {
    const named = /:\d+$/.test(host) ? host : `${host}:${port}`
    return options.local && !/^[\d.]+:|^\[/.test(named) ? `${named} local` : named
  })
}
