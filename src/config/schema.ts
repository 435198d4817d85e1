import { z } from 'zod'
import { Budget, ProfileName } from '../domain/agent-config.ts'
import { Duration, DurationLimit } from './duration.ts'

const nameRule = 'must be a name of letters, digits and . _ - : / @, starting with a letter or digit'
/** A name people type on a command line. It becomes a key of a map, so what every JavaScript object already has is refused. */
const name = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._:/@-]{0,99}$/, { error: nameRule })
  .refine((key) => !(key in Object.prototype), { error: 'must be a name that JavaScript does not use itself' })

const text = z.string().min(1, { error: 'must not be empty' })
const count = z.int({ error: 'must be a whole number' })
const atLeastOne = 'must be a whole number of at least 1'
const positive = z.int({ error: atLeastOne }).min(1, { error: atLeastOne })
const httpUrl = z.url({ protocol: /^https?$/, error: 'must be an http or https URL' })

const variable = /^[A-Za-z_][A-Za-z0-9_]*$/
const isOurs = (name: string) => name.startsWith('PAWL_')
const listed = 'must be a list of variable names to pass on (NAME) or to set (NAME=value), none of them starting with PAWL_'
const mapped = 'must be a map of variable names to fixed values, none of them starting with PAWL_'
const isPlain = (value: string) => !value.includes('\0')

/** What an agent's program finds in its environment: a list (`NAME` passes on, `NAME=value` sets) or a map of fixed values. */
const Env = z.union(
  [
    z
      .array(z.string())
      .refine((items) => items.every((item) => variable.test(item.split('=')[0]!) && !isOurs(item) && isPlain(item)), {
        error: listed,
      })
      .transform((items) => ({
        pass: items.filter((item) => !item.includes('=')),
        set: Object.fromEntries(
          items
            .filter((item) => item.includes('='))
            .map((item) => [item.slice(0, item.indexOf('=')), item.slice(item.indexOf('=') + 1)]),
        ),
      })),
    z
      .record(z.string(), z.union([z.string(), z.number(), z.boolean()]))
      .refine(
        (map) => Object.entries(map).every(([key, value]) => variable.test(key) && !isOurs(key) && isPlain(String(value))),
        {
          error: mapped,
        },
      )
      .transform((map) => ({
        pass: [] as string[],
        set: Object.fromEntries(Object.entries(map).map(([key, value]) => [key, String(value)])),
      })),
  ],
  {
    error:
      'must be a list (NAME passes a variable on, NAME=value sets it) or a map of fixed values; names start with a letter, not with PAWL_',
  },
)

/** The settings every agent has. Any other key of an agent belongs to its adapter, whose own schema decides about it. */
export const agentShape = {
  adapter: text.optional().describe('Which kind of program this agent is.'),
  model: text.optional().describe('The model, as the program calls it.'),
  profile: ProfileName.optional().describe('The walls around its runs; guarded if left out.'),
  baseUrl: httpUrl.optional().describe('The model endpoint its program talks to.'),
  env: Env.optional().describe('Variables for its program: names to pass on, or fixed values.'),
  auth: z
    .strictObject({
      env: z
        .array(
          z
            .string()
            .regex(variable, { error: 'must be names of environment variables; the key itself does not belong in this file' }),
        )
        .optional()
        .describe('Variables that may hold its key; the first that is set counts.'),
      file: text.optional().describe('A file that holds its key.'),
      via: z.enum(['variable', 'script']).optional().describe('How the program is given the key; in a variable if left out.'),
    })
    .optional()
    .describe('Where the key for its model is found. Without it: the variables its program knows, then the program’s own login.'),
  budget: z.strictObject(Budget.shape).optional().describe('Caps in US dollars, tokens and turns.'),
  timeout: DurationLimit.optional().describe('How long one run may take; 0 for no limit.'),
  idleTimeout: DurationLimit.optional().describe('How long it may stay silent; 0 for no limit.'),
  retries: count
    .min(0, { error: 'must be a whole number of at least 0' })
    .max(100, { error: 'must be at most 100' })
    .optional()
    .describe('How often a failed run is tried again.'),
  systemPrompt: text.optional().describe('Instructions given to it before any task.'),
  systemPromptFile: text.optional().describe('A file with such instructions, read anew for each run.'),
  options: z
    .record(z.string(), z.unknown())
    .optional()
    .describe('Settings only its adapter knows; they may also stand beside the others.'),
}

const keyReference =
  'must name where the key is kept, as { env: NAME } or { file: path }; the key itself does not belong in this file'

const variableName = 'must be the name of an environment variable, in capitals; the key itself does not belong in this file'

const Provider = z.strictObject({
  kind: text.describe('The format it speaks.'),
  baseUrl: httpUrl.optional(),
  key: z
    .union(
      [z.strictObject({ env: z.string().regex(/^[A-Z_][A-Z0-9_]*$/, { error: variableName }) }), z.strictObject({ file: text })],
      {
        error: keyReference,
      },
    )
    .optional(),
})

/** One settings file, project or home. Every block may be left empty. */
export const FileSettings = z.strictObject({
  agents: z.record(name, z.looseObject(agentShape)).nullish().describe('Your agents by name.'),
  defaultAgent: text.nullish().describe('The agent that gets a task which names none.'),
  limits: z
    .strictObject({
      running: positive.optional().describe('How many runs at once.'),
      perAgent: z.record(name, positive).nullish().describe('How many runs at once of one agent.'),
      maxQueued: positive.optional().describe('How many tasks may wait.'),
      warm: count
        .min(0, { error: 'must be a whole number of at least 0' })
        .optional()
        .describe('How many idle agent programs may be kept for the next turn of their session; 0 for none.'),
    })
    .nullish(),
  retry: z
    .strictObject({
      attempts: positive.max(100, { error: 'must be at most 100' }).optional().describe('Tries in all, the first one included.'),
      baseDelay: Duration.optional(),
      maxDelay: Duration.optional(),
    })
    .nullish(),
  timeouts: z
    .strictObject({
      total: DurationLimit.optional().describe('How long one run may take; 0 for no limit.'),
      idle: DurationLimit.optional().describe('How long an agent may stay silent; 0 for no limit.'),
      grace: Duration.optional().describe('How long a program has to end by itself before it is killed.'),
      warm: Duration.optional().describe('How long an idle program is kept for the next turn of its session.'),
    })
    .nullish(),
  providers: z.record(name, Provider).nullish().describe('Where models are served.'),
  models: z
    .record(name, z.strictObject({ provider: text }))
    .nullish()
    .describe('Which provider serves a model.'),
  profiles: z
    .never({
      error: `cannot be set: this version has only the built-in profiles (${ProfileName.options.join(', ')}); choose one with "profile" on an agent`,
    })
    .optional(),
  server: z
    .strictObject({
      host: text.optional(),
      allowedHosts: z.array(text).optional(),
      port: count
        .min(0, { error: 'must be a port between 0 and 65535' })
        .max(65535, { error: 'must be a port between 0 and 65535' })
        .optional(),
    })
    .nullish(),
  log: z
    .strictObject({
      level: z.enum(['debug', 'info', 'warn', 'error']).optional(),
      format: z.enum(['auto', 'json', 'text']).optional(),
    })
    .nullish(),
  database: z
    .strictObject({ url: z.url({ protocol: /^postgres(ql)?$/, error: 'must be a postgres:// URL' }).optional() })
    .nullish(),
})
export type FileSettings = z.output<typeof FileSettings>

type Blocks = 'limits' | 'retry' | 'timeouts' | 'server' | 'log'
/** With the defaults at the bottom, these blocks are there and whole. */
export type Decided = Omit<FileSettings, Blocks> & { [B in Blocks]: { [K in keyof NonNullable<FileSettings[B]>]-?: Part<B, K> } }
type Part<B extends Blocks, K extends keyof NonNullable<FileSettings[B]>> = K extends 'perAgent'
  ? Record<string, number>
  : Exclude<NonNullable<FileSettings[B]>[K], undefined>

/** What is in force when nobody says otherwise. */
export const defaults = {
  limits: { running: 4, perAgent: {}, maxQueued: 100_000, warm: 4 },
  retry: { attempts: 3, baseDelay: 5_000, maxDelay: 600_000 },
  timeouts: { total: 30 * 60_000, idle: 5 * 60_000, grace: 10_000, warm: 3 * 60_000 },
  server: { host: '127.0.0.1', port: 7295, allowedHosts: [] },
  log: { level: 'info', format: 'auto' },
} as const satisfies FileSettings

export const defaultProfile: ProfileName = 'guarded'
export const defaultBudget: Budget = { usd: 5 }
