import { z } from 'zod'
import { type HttpServer, type McpServer, McpServerName, type McpServers, type StdioServer } from '../domain/agent/mcp-server.ts'
import { SecretName } from '../domain/auth/secret.ts'
import { namesSecret } from '../domain/base/secret-names.ts'
import { Duration } from './duration.ts'
import { variable } from './env-schema.ts'
import { absolute } from './places.ts'
import type { FileSettings } from './schema.ts'

const text = z
  .string()
  .min(1, { error: 'must not be empty' })
  .refine((value) => !value.includes('\0'), { error: 'must be plain text' })
const reference = /\$\{([^}]*)\}/g
const fits = /^(?:secret:[A-Za-z0-9_][A-Za-z0-9._-]{0,63}|file:[^}]+|(?:env:)?[A-Za-z_][A-Za-z0-9_]*(?::-[^}]*)?)$/
const badReference =
  'must name what stands elsewhere as ${NAME} (a variable of Pawl), ${secret:NAME} or ${file:path}; one of its ${…} is none of these'
const Template = text.refine((value) => [...value.matchAll(reference)].every(([, inside]) => fits.test(inside!)), {
  error: badReference,
})

/** As it may stand for a value: text, or where the value is kept. */
const Value = z
  .union(
    [
      Template,
      z.number().transform(String),
      z.boolean().transform(String),
      z
        .strictObject({ secret: SecretName, prefix: z.string().optional() })
        .transform(({ secret, prefix = '' }) => `${prefix}\${secret:${secret}}`),
      z
        .strictObject({
          env: z.string().regex(variable, { error: 'must be the name of a variable' }),
          prefix: z.string().optional(),
        })
        .transform(({ env, prefix = '' }) => `${prefix}\${${env}}`),
      z
        .strictObject({ file: text, prefix: z.string().optional() })
        .transform(({ file, prefix = '' }) => `${prefix}\${file:${file}}`),
    ],
    { error: 'must be text, or where the value is kept: { secret: NAME }, { env: NAME } or { file: path }' },
  )
  .refine((value) => [...value.matchAll(reference)].every(([, inside]) => fits.test(inside!)), { error: badReference })

const keyInside =
  'must not hold a key, which would be stored with every task: keep it with "pawl secret set NAME" and write { secret: NAME }, or "Bearer ${secret:NAME}" for a header'
const isBare = (value: string) => !value.includes('${')
const hidesNothing = (values: Record<string, string>) =>
  Object.entries(values).every(([name, value]) => !(namesSecret(name) || /^authorization$/i.test(name)) || !isBare(value))

const Variables = z
  .record(z.string().regex(variable, { error: 'must be the name of a variable' }), Value)
  .refine((values) => !Object.keys(values).some((name) => name.startsWith('PAWL_')), {
    error: 'must not set names that start with PAWL_',
  })
  .refine(hidesNothing, { error: keyInside })
const Headers = z
  .record(z.string().regex(/^[\w!#$%&'*+.^`|~-]+$/, { error: 'must be the name of a header' }), Value)
  .refine(hidesNothing, { error: keyInside })

/** Programs are told to wait a little longer than the longest. */
const Within = Duration.refine((ms) => ms > 0 && ms <= 600_000, { error: 'must be a time of at most 10m, such as 30s' })

const kinds = ['stdio', 'http', 'streamable-http', 'streamableHttp', 'sse'] as const
const webUrl =
  'must be an http or https URL without a user name or a key; a token goes into headers, or is named as ${secret:NAME}'

/** One server of `mcpServers:`, as it is written here, in .mcp.json and in the settings of other programs. */
export const McpServerEntry = z
  .strictObject({
    type: z
      .enum(kinds, { error: 'must be stdio, http or sse' })
      .optional()
      .describe('How it is spoken to; told by command or url if left out.'),
    command: Template.optional().describe(
      'The program of a server that is started inside the walls; a path is seen from this file.',
    ),
    args: z.array(Template).optional().describe('Its arguments; no shell reads them.'),
    env: Variables.optional().describe('Its variables: text, ${NAME}, { secret: NAME }, { env: NAME } or { file: path }.'),
    cwd: text.optional().describe('Where it starts, as seen inside; the workspace if left out.'),
    url: Template.refine((url) => isWeb(url), { error: webUrl })
      .optional()
      .describe('The address of a server that is reached by HTTP.'),
    headers: Headers.optional().describe(
      'What it is sent with each request: text, or "Bearer ${secret:NAME}". The agent never sees them.',
    ),
    oauth: z
      .union([
        z.literal(true).transform(() => ({})),
        z.strictObject({
          clientId: Value.optional().describe('The id under which Pawl is known there; it registers itself if left out.'),
          clientSecret: Value.refine((value) => !isBare(value), { error: keyInside }).optional(),
          grant: z
            .enum(['authorization_code', 'client_credentials'])
            .optional()
            .describe('client_credentials: nobody has to sign in.'),
          scope: text.optional(),
        }),
      ])
      .optional()
      .describe('The server asks for OAuth: "pawl mcp-servers sign-in NAME" once.'),
    startTimeout: Within.optional().describe('How long it may take until it answers; 30s if left out.'),
    timeout: Within.optional().describe('How long one call may take; 5m if left out, 10m at most.'),
    disabled: z.boolean().optional().describe('True: it is offered to nobody.'),
  })
  .superRefine((entry, refuse) => {
    const say = (path: string, message: string) => refuse.addIssue({ code: 'custom', path: [path], message })
    const { type, command, url } = entry
    if ((command === undefined) === (url === undefined))
      return say('command', 'must be there for a server that is started, or else url for one that is reached by HTTP; not both')
    if (type !== undefined && (type === 'stdio') !== (command !== undefined))
      say('type', command === undefined ? 'must be http or sse: the server has a url' : 'must be stdio: the server has a command')
    const foreign = command === undefined ? (['args', 'env', 'cwd'] as const) : (['headers', 'oauth'] as const)
    for (const key of foreign)
      if (entry[key] !== undefined) say(key, `must be left out for a server with a ${command === undefined ? 'url' : 'command'}`)
  })
export type McpServerEntry = z.output<typeof McpServerEntry>

/** Which servers an agent, or a profile, has: all, none, or these. */
export const ServerChoice = z
  .union([z.enum(['all', 'none']), z.array(text)], { error: 'must be all, none, or a list of names' })
  .transform((choice): string[] => (choice === 'all' ? ['*'] : choice === 'none' ? [] : choice))

/** Paths are meant from the file that names them. */
export function placeServer(entry: McpServerEntry, folder: string, userHome: string | undefined): McpServerEntry {
  const at = (path: string) => absolute(path, folder, userHome)
  const inside = (value: string) => value.replaceAll(/\$\{file:([^}]+)\}/g, (_, path: string) => `\${file:${at(path)}}`)
  const each = (values: Record<string, string>) =>
    Object.fromEntries(Object.entries(values).map(([name, value]) => [name, inside(value)]))
  const { command, args, env, headers } = entry
  return {
    ...entry,
    ...(command?.includes('/') && isBare(command) ? { command: at(command) } : {}),
    // What is named from here is here, wherever the server is started.
    ...(args ? { args: args.map((word) => (/^(?:\.{1,2}|~)\//.test(word) ? at(word) : inside(word))) } : {}),
    ...(env ? { env: each(env) } : {}),
    ...(headers ? { headers: each(headers) } : {}),
  }
}

export function mcpServersOf(entries: FileSettings['mcpServers']): McpServers {
  const there = Object.entries(entries ?? {}).filter(([, entry]) => !entry.disabled)
  return Object.fromEntries(there.map(([name, entry]) => [name, serverOf(entry)]))
}

/** The same of entries that come from elsewhere: each is good or not by itself. */
export function readServerEntries(entries: Readonly<Record<string, unknown>>): {
  servers: McpServers
  refused: { name: string; why: string }[]
} {
  const servers: Record<string, McpServer> = {}
  const refused: { name: string; why: string }[] = []
  for (const [name, entry] of Object.entries(entries)) {
    const named = McpServerName.safeParse(name)
    const parsed = named.success ? McpServerEntry.safeParse(entry) : named
    if (parsed.success) servers[name] = serverOf(parsed.data as McpServerEntry)
    else
      refused.push({
        name,
        why: parsed.error.issues.map(({ path, message }) => [path.join('.') || 'its name', message].join(' ')).join('; '),
      })
  }
  return { servers, refused }
}

function serverOf(entry: McpServerEntry): McpServer {
  const times = { startTimeoutMs: entry.startTimeout ?? 30_000, timeoutMs: entry.timeout ?? 300_000 }
  if (entry.command !== undefined) {
    const { command, args = [], env = {}, cwd } = entry
    return { kind: 'stdio', command, args, env, ...(cwd === undefined ? {} : { cwd }), ...times } satisfies StdioServer
  }
  const { url = '', headers = {}, type, oauth } = entry
  return {
    kind: 'http',
    url,
    headers,
    transport: type === 'sse' ? 'sse' : 'http',
    ...(oauth ? { oauth: { grant: 'authorization_code' as const, ...present(oauth) } } : {}),
    ...times,
  } satisfies HttpServer
}

const present = <T extends object>(fields: T) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as { [K in keyof T]: NonNullable<T[K]> }

function isWeb(url: string): boolean {
  const parsed = URL.parse(url.replaceAll(reference, 'x'))
  if (parsed === null || !/^https?:$/.test(parsed.protocol) || parsed.username + parsed.password !== '') return false
  return [...url.matchAll(/[?&]([^=&#]+)=([^&#]*)/g)].every(([, name, value]) => !namesSecret(name!) || !isBare(value!))
}
