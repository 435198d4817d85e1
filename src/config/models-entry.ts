import { z } from 'zod'
import { type ModelTable, type ProviderKind, type ProviderSettings, providerKinds } from '../domain/agent/models.ts'
import { SecretName } from '../domain/auth/secret.ts'
import { nearest } from '../domain/base/nearest.ts'
import { endpoints } from '../gateway/provider/kinds.ts'
import { absolute } from './places.ts'
import type { FileSettings } from './schema.ts'

const text = z.string().min(1, { error: 'must not be empty' })
/** It is shown and stored, so it holds nothing that lets anybody in; what is asked for comes behind it. */
export const endpointUrl = z
  .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
  .refine((text) => !URL.canParse(text) || isBare(new URL(text)), {
    error: 'must be an http or https URL without a user name, password, query or fragment; a key is named beside it',
  })
const isBare = ({ username, password, search, hash }: URL) => username + password + search + hash === ''
const variableName = 'must be the name of an environment variable, in capitals; the key itself does not belong in this file'
const keyReference =
  'must name where the key is kept, as { env: NAME }, { file: path } or { secret: NAME }; the key itself does not belong in this file'

const kinds = providerKinds.join(', ')
/** What is no kind is named: it cannot be a secret, and a typo in it is seen at once. */
const noKind = ({ input }: { readonly input?: unknown }) => {
  if (typeof input !== 'string') return `must be one of ${kinds}`
  const near = nearest(input, providerKinds)
  return `must be one of ${kinds}; "${input.slice(0, 50)}" is none${near === undefined ? '' : `, did you mean "${near}"`}`
}

const speaksMany: readonly ProviderKind[] = ['openai', 'openai-compatible']

export const ProviderEntry = z
  .strictObject({
    kind: z
      .enum(providerKinds, { error: noKind })
      .describe('What it speaks: openai is Responses and Chat Completions, openai-compatible Chat Completions.'),
    baseUrl: endpointUrl.optional().describe('Where it is; that of its maker if left out. With /v1 for the OpenAI kinds.'),
    wire: z.enum(['openai-responses', 'openai-chat']).optional().describe('The only format it speaks, for the OpenAI kinds.'),
    key: z
      .union(
        [
          z.strictObject({ env: z.string().regex(/^[A-Z_][A-Z0-9_]*$/, { error: variableName }) }),
          z.strictObject({ file: text }),
          z.strictObject({ secret: SecretName }),
        ],
        { error: keyReference },
      )
      .optional()
      .describe('Where its key is kept; left out for one that wants none.'),
    serverTools: z
      .boolean()
      .optional()
      .describe(
        'Whether it may search, run code and fetch addresses itself while it answers; if left out, only for runs whose network is open.',
      ),
  })
  .superRefine(({ kind, baseUrl, wire }, refuse) => {
    const say = (key: string, message: string) => refuse.addIssue({ code: 'custom', path: [key], message })
    if (kind === 'openai-compatible' && baseUrl === undefined)
      say('baseUrl', 'must say where the provider is, as https://host/v1: openai-compatible is nobody in particular')
    if (wire !== undefined && !speaksMany.includes(kind)) say('wire', `must be left out: ${kind} speaks one format only`)
  })

const maxOutput = 'must be a whole number of at least 1'

export const ModelEntry = z.strictObject({
  provider: text.describe('Who serves it, by its name under providers.'),
  target: text.optional().describe("The provider's own name for it; the name itself if left out."),
  aliases: z.array(text).optional().describe('Other names under which clients may ask for it.'),
  maxOutputTokens: z
    .int({ error: maxOutput })
    .min(1, { error: maxOutput })
    .optional()
    .describe('The most it may write in one answer: what is reserved of the budget before a call that names no bound.'),
})

/** A path is meant from the file that names it. */
export function placeProvider(entry: z.output<typeof ProviderEntry>, folder: string, userHome: string | undefined): typeof entry {
  return entry.key && 'file' in entry.key ? { ...entry, key: { file: absolute(entry.key.file, folder, userHome) } } : entry
}

export function providersOf(entries: FileSettings['providers']): Record<string, ProviderSettings> {
  return Object.fromEntries(Object.entries(entries ?? {}).map(([name, entry]) => [name, providerOf(entry)]))
}

function providerOf({ kind, baseUrl, wire, key, serverTools }: z.output<typeof ProviderEntry>): ProviderSettings {
  const spoken = wire ?? (kind === 'openai-compatible' ? 'openai-chat' : kind === 'openai' ? undefined : kind)
  return {
    kind,
    // The schema has seen to it that those without a maker say where they are.
    baseUrl: (baseUrl ?? endpoints[kind as keyof typeof endpoints]).replace(/\/+$/, ''),
    ...(spoken === undefined ? {} : { wire: spoken }),
    ...(key === undefined ? {} : { key }),
    ...(serverTools === undefined ? {} : { serverTools }),
  }
}

/** What is stored with each agent. Undefined if no model is listed. */
export function modelTable({ providers, models }: Pick<FileSettings, 'providers' | 'models'>): ModelTable | undefined {
  const listed = Object.entries(models ?? {})
  if (listed.length === 0) return undefined
  const used = new Set(listed.map(([, { provider }]) => provider))
  const serving = Object.entries(providersOf(providers)).filter(([name]) => used.has(name))
  return {
    providers: Object.fromEntries(serving),
    models: Object.fromEntries(listed.map(([name, model]) => [name, present(model)])),
  }
}

const present = <T extends object>(fields: T) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>
  }
