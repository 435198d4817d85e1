import { z } from 'zod'
import { PawlError } from '../domain/error.ts'
import { Name } from '../domain/id.ts'
import { isBuiltin } from '../domain/profile/resolve.ts'
import { parseRule } from '../domain/rule/rule.ts'
import { readRule } from '../sandbox/egress/host-rule.ts'
import { Env, variable } from './env-schema.ts'
import { ServerChoice } from './mcp-server-entry.ts'
import { Size } from './size.ts'

const text = z.string().min(1, { error: 'must not be empty' })
const atLeastOne = 'must be a whole number of at least 1'
const count = z.int({ error: atLeastOne }).min(1, { error: atLeastOne }).max(1_000_000, { error: 'must be at most 1000000' })

export const ProfileKey = Name.refine((name) => !isBuiltin(name), {
  error: 'cannot be changed: it is built in; choose another name for your profile and let it extend this one',
})

const Rule = z.string().superRefine((written, context) => {
  const parsed = parseRule(written)
  if ('fault' in parsed) context.addIssue({ code: 'custom', message: parsed.fault })
})
const Rules = z.array(Rule).nullish()

/** Read by the one who will hold connections against it, so that nothing is accepted here and misunderstood there. */
const hosts = (list: 'allow' | 'ask' | 'deny') =>
  z
    .array(
      z.string().superRefine((written, context) => {
        try {
          readRule(written, list)
        } catch (error) {
          if (!(error instanceof PawlError)) throw error
          context.addIssue({ code: 'custom', message: `cannot be used: ${error.message}` })
        }
      }),
    )
    .nullish()

/** A mount as somebody wrote it, short or long. */
export interface WrittenMount {
  path?: string | undefined
  source?: string | undefined
  mode?: 'ro' | 'rw' | undefined
  name?: string | undefined
  description?: string | undefined
  persistent?: boolean | undefined
  required?: boolean | undefined
}

const mountForm = 'must be written /path, /path:ro, /path:rw, or as a map with a path or a source'
const shortMount = /^(.+?)(?::(ro|rw))?$/s
export const Mount = z.union(
  [
    z
      .string()
      .min(1)
      .transform((written): WrittenMount => {
        const [, path, mode] = shortMount.exec(written)!
        return { path: path!, ...(mode === undefined ? {} : { mode: mode as 'ro' | 'rw' }) }
      }),
    z
      .strictObject({
        path: text.optional().describe('Where the agent sees it; like source if left out.'),
        source: text.optional().describe('Where it lies on this machine; like path if left out.'),
        mode: z.enum(['ro', 'rw']).optional().describe('Whether it may be written; ro if left out, rw for a persistent one.'),
        name: text.optional().describe('What the agent is told it is called.'),
        description: text.optional().describe('What the agent is told it is for.'),
        persistent: z.boolean().optional().describe('A folder that is made if it is missing, and outlives every task.'),
        required: z.boolean().optional().describe('False: a run goes on without it if it is missing, and says so.'),
      })
      .refine((mount) => mount.path !== undefined || mount.source !== undefined, { error: mountForm }),
  ],
  { error: mountForm },
)

const secretForm = 'must be the name of a secret, or { name, variable }'
const Secret = z.union(
  [
    z
      .string()
      .regex(variable, { error: 'must be written { name, variable } if its name cannot be that of a variable' })
      .transform((name) => ({ name, variable: name })),
    z.strictObject({
      name: text.describe('The secret, as "pawl secret ls" names it.'),
      variable: z
        .string()
        .regex(variable, { error: 'must be the name of a variable' })
        .refine((name) => !name.startsWith('PAWL_'), { error: 'must not start with PAWL_' })
        .describe('The variable in which the program finds it.'),
    }),
  ],
  { error: secretForm },
)

const digest = z.string().regex(/^sha256:[0-9a-f]{64}$/, { error: 'must be a digest such as sha256:… (64 hexadecimal digits)' })

const SshHost = z.strictObject({
  name: text,
  host: text,
  port: z.int().min(1).max(65535).default(22),
  user: text,
  key: text.describe('The secret that holds the private key.'),
  hostKey: text.describe('The public key of the host, as known_hosts has it.'),
})

/** One entry of `profiles:`. What it leaves out is taken from the profile it extends. */
export const ProfileEntry = z.strictObject({
  extends: text.optional().describe('The profile it stands on, built in or your own; guarded if left out.'),
  walls: z.boolean().optional().describe('False only on top of unattended-open.'),
  rules: z
    .strictObject({
      allow: Rules.describe('Calls that need no permission: Tool or Tool(pattern).'),
      ask: Rules.describe('Calls that a person is asked about.'),
      deny: Rules.describe('Calls that are refused. No other rule can take one back.'),
      otherwise: z.enum(['allow', 'ask', 'deny']).optional().describe('What becomes of a call that no rule names.'),
    })
    .nullish()
    .describe('What the agent’s tools may do. A convenience: the walls are the boundary.'),
  tools: z
    .strictObject({
      native: z.boolean().optional().describe('False switches the program’s own tools off and offers Pawl’s instead.'),
      disabled: z.array(text).nullish().describe('Tools that are never offered.'),
    })
    .nullish(),
  directories: z.array(text).nullish().describe('More folders that may be written; a relative one is seen from this file.'),
  mounts: z.array(Mount).nullish().describe('More of the machine: /path, /path:rw, or a map.'),
  network: z
    .strictObject({
      allow: hosts('allow').describe('Hosts that may be reached.'),
      ask: hosts('ask').describe('Hosts that a person is asked about.'),
      deny: hosts('deny').describe('Hosts that are refused, whatever allows them.'),
    })
    .nullish(),
  env: Env.optional().describe('Variables for the agent’s program: names to pass on, or fixed values.'),
  secrets: z.array(Secret).nullish().describe('Secrets of the store that the agent’s program is given.'),
  limits: z
    .strictObject({
      processes: count.optional().describe('Processes and threads at once.'),
      openFiles: count.optional().describe('Open files of one process.'),
      memory: Size.optional().describe('Memory of all processes together: 4g, 512m.'),
      file: Size.optional().describe('The largest single file.'),
      disk: Size.optional().describe('What the workspace may grow by.'),
      output: Size.optional().describe('What the program may print in one run.'),
    })
    .nullish(),
  skills: z.array(text).nullish().describe('Only these skills; "*" for all.'),
  subagents: z.array(text).nullish().describe('Only these subagents; "*" for all.'),
  mcpServers: ServerChoice.optional().describe('Which servers of mcpServers its runs may have: all, none, or a list.'),
  instructions: z.boolean().optional().describe('Whether the repository’s own instruction files are given to the agent.'),
  trust: z
    .array(z.strictObject({ path: text, digest }))
    .nullish()
    .describe('Repositories whose own configuration counts, as it stands now. Needs trusted-repo as its base.'),
  nestedNamespaces: z.boolean().optional().describe('Whether the agent may build a sandbox of its own inside the walls.'),
  ssh: z
    .strictObject({
      hosts: z.array(SshHost).min(1),
      mode: z.enum(['readonly', 'operations', 'filtered_shell']).default('readonly'),
      level: z.union([z.literal(0), z.literal(1), z.literal(2), z.literal(3)], { error: 'must be 0, 1, 2 or 3' }).default(0),
    })
    .optional()
    .describe('Hosts that may be worked on by SSH.'),
})
export type ProfileEntry = z.output<typeof ProfileEntry>
