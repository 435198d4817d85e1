import { z } from 'zod'
import { Budget } from '../domain/agent/agent-config.ts'
import { McpServerName } from '../domain/agent/mcp-server.ts'
import { Name, UserName } from '../domain/id.ts'
import { A2AEntry } from './a2a-entry.ts'
import { BackupEntry } from './backup-entry.ts'
import { ChecksEntry } from './checks-entry.ts'
import { Duration, DurationLimit } from './duration.ts'
import { ElaborateEntry } from './elaborate-entry.ts'
import { Env, variable } from './env-schema.ts'
import { FilesEntry } from './files-entry.ts'
import { GuardrailsEntry } from './guardrails-entry.ts'
import { McpServerEntry, ServerChoice } from './mcp-server-entry.ts'
import { endpointUrl, ModelEntry, ProviderEntry } from './models-entry.ts'
import { BudgetEntry, ModelPattern, PriceEntry } from './money-entry.ts'
import { MountBaseEntry, UserEntry } from './mount-entry.ts'
import { NotificationEntry } from './notification-entry.ts'
import { ProfileEntry, ProfileKey } from './profile-entry.ts'
import { PushEntry } from './push-entry.ts'
import { QuestionsEntry } from './questions-entry.ts'
import { RecordingsEntry } from './recordings-entry.ts'
import { ScheduleEntry } from './schedule-entry.ts'

/** What programs call a model. It becomes a key of a map, so what every JavaScript object already has is refused. */
const modelName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._:/@-]{0,99}$/, {
    error: 'must be a name of letters, digits and . _ - : / @, starting with a letter or digit',
  })
  .refine((key) => !(key in Object.prototype), { error: 'must be a name that JavaScript does not use itself' })

const text = z.string().min(1, { error: 'must not be empty' })
const absolute = text.startsWith('/', { error: 'must be an absolute path' })
const count = z.int({ error: 'must be a whole number' })
const atLeastOne = 'must be a whole number of at least 1'
const positive = z.int({ error: atLeastOne }).min(1, { error: atLeastOne })

/** The settings every agent has. Any other key of an agent belongs to its adapter, whose own schema decides about it. */
export const agentShape = {
  adapter: text.optional().describe('Which kind of program this agent is.'),
  preset: text.optional().describe('A program that Pawl knows by data alone; takes the place of adapter and its options.'),
  model: text.optional().describe('The model, as the program calls it.'),
  profile: text.optional().describe('What its runs may see and do: a built-in profile or one of yours; guarded if left out.'),
  baseUrl: endpointUrl.optional().describe('The model endpoint its program talks to.'),
  fallbackModels: z
    .array(text)
    .optional()
    .describe('Models of yours that are asked, in this order, while its own is at a limit or away.'),
  models: z
    .array(text)
    .optional()
    .describe('Other models of yours that its program may ask for; without it only its own and those that stand in for it.'),
  gateway: z
    .boolean()
    .optional()
    .describe(
      'false: its program talks to its model past the gateway, with the key itself and no cap that is held before a call.',
    ),
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
  checks: ChecksEntry.optional().describe('Commands that prove its work is done; those of all agents if left out, [] for none.'),
  record: z.boolean().optional().describe('Keep what its runs ask of models, so that they can be replayed.'),
  budget: z.strictObject(Budget.shape).optional().describe('Caps in US dollars, tokens and turns.'),
  timeout: DurationLimit.optional().describe('How long one run may take; 0 for no limit.'),
  idleTimeout: DurationLimit.optional().describe('How long it may do nothing at all; 0 for no limit.'),
  retries: count
    .min(0, { error: 'must be a whole number of at least 0' })
    .max(100, { error: 'must be at most 100' })
    .optional()
    .describe('How often a failed run is tried again.'),
  systemPrompt: text.optional().describe('Instructions given to it before any task.'),
  systemPromptFile: z
    .union([text, z.array(text).min(1)], { error: 'must be a path, or a list of paths' })
    .optional()
    .describe('A file with such instructions, or several in their order, read anew for each run.'),
  role: Name.optional().describe('The template of its system prompt, prompts/ROLE.md of the home.'),
  mcpServers: ServerChoice.optional().describe(
    'Which servers of mcpServers it is offered: all, none, or a list; all if left out.',
  ),
  options: z
    .record(z.string(), z.unknown())
    .optional()
    .describe('Settings only its adapter knows; they may also stand beside the others.'),
}

/** One settings file, project or home. Every block may be left empty. */
export const FileSettings = z.strictObject({
  agents: z.record(Name, z.looseObject(agentShape)).nullish().describe('Your agents by name.'),
  defaultAgent: text.nullish().describe('The agent that gets a task which names none.'),
  limits: z
    .strictObject({
      running: positive.optional().describe('How many runs at once.'),
      perAgent: z.record(Name, positive).nullish().describe('How many runs at once of one agent.'),
      maxQueued: positive.optional().describe('How many tasks may wait.'),
      warm: count
        .min(0, { error: 'must be a whole number of at least 0' })
        .optional()
        .describe('How many idle agent programs may be kept for the next turn of their session; 0 for none.'),
      usageWindows: count
        .min(0, { error: 'must be a whole number of at least 0' })
        .optional()
        .describe('How often in a row a task waits for the usage limit of its account to end before it fails.'),
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
      idle: DurationLimit.optional().describe('How long an agent may do nothing at all; 0 for no limit.'),
      grace: Duration.optional().describe('How long a program has to end by itself before it is killed.'),
      warm: Duration.optional().describe('How long an idle program is kept for the next turn of its session.'),
    })
    .nullish(),
  mcpServers: z
    .record(McpServerName, McpServerEntry)
    .nullish()
    .describe('Your servers of tools (MCP) by name, offered to every agent; as .mcp.json has them.'),
  providers: z.record(Name, ProviderEntry).nullish().describe('Where models are served.'),
  models: z.record(modelName, ModelEntry).nullish().describe('Which provider serves a model, by the name that agents ask for.'),
  profiles: z
    .record(
      ProfileKey,
      ProfileEntry.nullable().transform((entry) => entry ?? {}),
    )
    .nullish()
    .describe('Your own profiles by name: what runs may see and do.'),
  notifications: z
    .record(Name, NotificationEntry)
    .nullish()
    .describe('Whom to tell when a task needs somebody or has ended, by name.'),
  prices: z
    .record(ModelPattern, PriceEntry)
    .nullish()
    .describe('What models cost in US dollars for a million tokens, by name or pattern; wins over the list that Pawl brings.'),
  budget: BudgetEntry.nullish().describe('What everything together may cost.'),
  guardrails: GuardrailsEntry.nullish().describe('When an agent that goes round in circles is stopped.'),
  backup: BackupEntry.nullish().describe('Backups that a daemon takes by itself.'),
  a2a: A2AEntry.nullish().describe('How other agents reach yours by the A2A protocol.'),
  push: PushEntry.nullish().describe('How browsers are told of what happens.'),
  elaborate: ElaborateEntry.nullish().describe('Which agent makes tasks of people’s words.'),
  recordings: RecordingsEntry.nullish().describe('What holds for the recordings of runs.'),
  files: FilesEntry.nullish().describe('How many and how large files tasks may be given, and may leave.'),
  checks: ChecksEntry.nullish().describe('Commands that prove the work of every agent is done.'),
  schedules: z
    .record(Name, ScheduleEntry)
    .nullish()
    .describe('Tasks that come again, by name; a daemon takes them up when it starts.'),
  questions: QuestionsEntry.nullish().describe('What holds for questions of agents.'),
  secrets: z
    .strictObject({
      key: z
        .union(
          [
            z.strictObject({ env: z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, { error: 'must be the name of a variable' }) }),
            z.strictObject({ file: absolute }),
            z.strictObject({ command: z.array(text).min(1, { error: 'must name a program' }) }),
            z.strictObject({ keychain: z.enum(['secret-service', 'macos']) }),
          ],
          {
            error:
              'must be one of { env: NAME }, { file: path }, { command: [program, …] }, { keychain: secret-service | macos }',
          },
        )
        .optional()
        .describe('Where the key that seals the secrets is kept; a file in Pawl’s home if left out.'),
    })
    .nullish(),
  env: Env.nullish().describe('Variables for the programs of all agents: names to pass on, or fixed values.'),
  users: z.record(UserName, UserEntry).nullish().describe('Settings for the runs of single users.'),
  mounts: z.record(Name, MountBaseEntry).nullish().describe('Folders of this machine that tasks may name.'),
  server: z
    .strictObject({
      host: text.optional(),
      allowedHosts: z.array(text).optional(),
      workspaces: z
        .array(absolute)
        .optional()
        .describe(
          'Folders in and below which users who are no admins may have agents work; only in folders of their tasks if left out.',
        ),
      tls: z
        .strictObject({
          cert: absolute.describe('The certificate chain, a PEM file.'),
          key: absolute.describe('Its key, a PEM file.'),
        })
        .nullable()
        .optional()
        .describe('Speak TLS; needed to listen beyond this machine.'),
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
  limits: { running: 4, perAgent: {}, maxQueued: 100_000, warm: 4, usageWindows: 20 },
  retry: { attempts: 3, baseDelay: 5_000, maxDelay: 600_000 },
  timeouts: { total: 24 * 60 * 60_000, idle: 5 * 60_000, grace: 10_000, warm: 3 * 60_000 },
  server: { host: '127.0.0.1', port: 7295, allowedHosts: [], workspaces: [], tls: null },
  log: { level: 'info', format: 'auto' },
} as const satisfies FileSettings

export const defaultBudget: Budget = { usd: 5 }
