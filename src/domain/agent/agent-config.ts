import { z } from 'zod'
import { ProfileSchema } from '../profile/schema.ts'
import { Checks } from './checks.ts'
import { McpServers } from './mcp-server.ts'
import { ModelTable } from './models.ts'

/** What one task, run, or day may cost. A part that is missing has no cap of its own. */
export const Budget = z.object({
  /** For the task with its retries and subtasks. */
  usd: z.number().nonnegative().optional(),
  tokens: z.int().positive().optional(),
  turns: z.int().positive().optional(),
  /** How long all runs of the task may take together. */
  wallMs: z.int().positive().optional(),
  perRunUsd: z.number().nonnegative().optional(),
  perAgentDayUsd: z.number().nonnegative().optional(),
})
export type Budget = z.infer<typeof Budget>

/** `null` is an explicit "never", so that nobody hands 0 to a timer. */
const Limit = z.int().positive().nullable()

/**
 * An agent with every setting decided. Plain JSON: it is stored with each task, so a daemon started in another folder runs
 * the task as the folder it was asked from wanted it.
 */
export const ResolvedAgent = z.object({
  name: z.string(),
  adapter: z.string(),
  /** The data its adapter was told its program by, if that is one that Pawl brings. */
  preset: z.string().optional(),
  model: z.string().optional(),
  profile: z.string().min(1).max(100).default('guarded'),
  /** The profile itself, if it is not a built-in one as it is: `rightsOf` gives what is in force. */
  rights: ProfileSchema.optional(),
  /** As the adapter's own schema parsed them. */
  options: z.record(z.string(), z.unknown()).default({}),
  /** `pass` names variables of Pawl's own environment; `set` holds fixed values. */
  env: z
    .object({ pass: z.array(z.string()).readonly(), set: z.record(z.string(), z.string()) })
    .default(() => ({ pass: [], set: {} })),
  baseUrl: z.string().optional(),
  /** The models of the settings, so that a daemon of another folder has them too. If its own is among them, its provider serves it. */
  models: ModelTable.optional(),
  /** Listed models that are asked in this order while its own is at a limit or away. */
  fallbackModels: z.array(z.string()).optional(),
  /** Other listed models that its program may ask for. */
  allowedModels: z.array(z.string()).optional(),
  /** False: it goes past the gateway, with its key. */
  gateway: z.boolean().optional(),
  /** Where its key is found: names and a path, never the key. */
  auth: z
    .object({
      env: z.array(z.string()).optional(),
      /** Absolute. */
      file: z.string().optional(),
      via: z.enum(['variable', 'script']).optional(),
    })
    .optional(),
  systemPrompt: z.string().optional(),
  /** Whose template comes before it, for tasks that name none. */
  role: z.string().optional(),
  /** Absolute; read anew for each run, one after the other. */
  systemPromptFile: z.union([z.string(), z.array(z.string())]).optional(),
  /** The user's servers of tools that it is offered, by name. */
  mcpServers: McpServers.optional(),
  /** For tasks that name none of their own. */
  checks: Checks.optional(),
  /** Keep what its runs ask of models, for tasks that do not say. */
  record: z.boolean().optional(),
  budget: Budget.default({}),
  timeoutMs: Limit.default(24 * 60 * 60_000),
  idleTimeoutMs: Limit.default(5 * 60_000),
  graceMs: z.int().nonnegative().default(10_000),
  /** `attempts` counts the first try too. */
  retry: z
    .object({
      attempts: z.int().positive(),
      baseDelayMs: z.int().nonnegative(),
      maxDelayMs: z.int().nonnegative(),
      /** How the delay grows from try to try. */
      backoff: z.enum(['exponential', 'linear']).optional(),
    })
    .default({ attempts: 3, baseDelayMs: 5_000, maxDelayMs: 600_000 }),
})
export type ResolvedAgent = z.infer<typeof ResolvedAgent>
