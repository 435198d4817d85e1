import { z } from 'zod'
import { Budget, ResolvedAgent } from '../agent/agent-config.ts'
import { Name, QuestionId, RunId, SessionId, TaskId, UploadId } from '../id.ts'
import { costKnowledge } from '../money/cost.ts'
import { TaskCost } from '../money/cost-view.ts'
import { Usage } from '../money/usage.ts'
import { AfterDeadline, QuestionPolicy } from '../question/policy.ts'
import { questionKinds, questionStates } from '../question/question.ts'
import { AgentRecord, StuckTask } from '../run/health.ts'
import { categoryNames, outcomes, shortfalls } from '../run/outcome.ts'
import { proofs } from '../task/check.ts'
import { TaskMount } from '../task/mount.ts'
import { Checks, SubtaskLimits, TaskSpec } from '../task/spec.ts'
import { maxPromptBytes, priorities, taskStates, workspaceModes } from '../task/task.ts'
import { Activity } from './activity.ts'

/** What every surface shows of the nouns, and what it takes to make one. Outside programs rely on these shapes: add fields, change none. */
const Time = z.iso.datetime()

export const Reason = z.object({ kind: z.string(), detail: z.string().optional() })
export const Priority = z.union([
  z.enum(['high', 'normal', 'low']).transform((name) => priorities[name]),
  z.number().int().min(-100).max(100),
])

export const NewTask = z.strictObject({
  prompt: z
    .string()
    .refine((text) => text.trim() !== '', 'The prompt is empty; say what the agent should do.')
    .refine(
      (text) => Buffer.byteLength(text) <= maxPromptBytes,
      `The prompt is longer than ${maxPromptBytes} bytes; put the material into a file of the workspace and point at it.`,
    ),
  agent: Name.optional().describe(
    'An agent of the daemon’s configuration; that of the session, or the default one, if left out.',
  ),
  agentConfig: ResolvedAgent.optional().describe('A whole agent, resolved by the client from its own folder; wins over `agent`.'),
  workspace: z
    .string()
    .min(1)
    .max(4096)
    .optional()
    .describe('An absolute path; left out, that of the session, or for a new session an empty directory of its own.'),
  allowHome: z
    .boolean()
    .optional()
    .describe(
      'The workspace, or a context folder, may be a home folder or a folder above one, which is refused otherwise. Keys and logins in it stay covered.',
    ),
  session: SessionId.optional().describe('Goes on with that conversation.'),
  resetSession: z.boolean().optional().describe('Begins a new conversation in that session.'),
  outputSchema: z.record(z.string(), z.unknown()).optional().describe('A JSON schema that the answer must fit.'),
  model: z
    .string()
    .regex(/^[\w@][\w.:=@/+-]{0,199}$/, 'a model name cannot begin with a dash')
    .optional(),
  priority: Priority.optional(),
  tags: z.array(Name).max(50).optional(),
  timeoutMs: z.number().int().min(0).optional().describe('Total time of one run; 0 means none.'),
  extraArgs: z.array(z.string().max(4096)).max(100).optional().describe('Passed on to the agent program as they are.'),
  profile: Name.optional().describe(
    'What its runs may see and do: a profile of the daemon’s configuration; that of the agent if left out.',
  ),
  workspaceMode: z
    .enum(workspaceModes)
    .optional()
    .describe(
      'Where it works: in the workspace itself, in a copy, or in a clone of the repository. Left out: directly where the agent may write, else in a copy.',
    ),
  bringBack: z.enum(['branch']).optional().describe('Puts the branch of a clone into the repository at the end.'),
  attended: z.boolean().optional().describe('Somebody sits at a terminal and watches.'),
  name: z.string().min(1).max(200).optional().describe('What people call it.'),
  contextDirs: z
    .array(z.string().min(1).max(4096))
    .max(50)
    .optional()
    .describe('More folders that the agent may read; those that are not absolute are seen from the workspace.'),
  writableDirs: z
    .array(z.string().min(1).max(4096))
    .max(50)
    .optional()
    .describe('More folders that the agent may read and write; seen like those of `contextDirs`.'),
  mounts: z.array(TaskMount).max(50).optional().describe('Folders that the settings offer to tasks, by name.'),
  allowedTools: z
    .array(z.string().min(1).max(1000))
    .max(200)
    .optional()
    .describe('Tools used without asking, as far as the profile allows them.'),
  disallowedTools: z.array(z.string().min(1).max(1000)).max(200).optional().describe('Tools that are not offered.'),
  mcpServers: z
    .array(z.string().min(1).max(40))
    .max(100)
    .optional()
    .describe('Which of the servers of tools of its agent it has; [] for none, all if left out.'),
  appendSystemPrompt: z.string().min(1).max(262_144).optional().describe('Added to the system prompt.'),
  role: Name.optional().describe('The template of the system prompt, prompts/ROLE.md of the home; the agent’s own if left out.'),
  template: Name.optional().describe('The template that the prompt is put into, prompts/tasks/NAME.md of the home.'),
  context: z.string().min(1).max(262_144).optional().describe('What else the template may name; needs `template`.'),
  budget: Budget.pick({ usd: true, tokens: true, turns: true, wallMs: true, perRunUsd: true })
    .strict()
    .optional()
    .describe('Caps for the task with all its runs and subtasks.'),
  retry: z
    .strictObject({
      attempts: z.number().int().min(1).max(100).optional(),
      backoff: z.enum(['exponential', 'linear']).optional(),
      baseDelayMs: z.number().int().min(0).optional(),
      maxDelayMs: z.number().int().min(0).optional(),
    })
    .optional(),
  dependsOn: z.array(TaskId).max(100).optional().describe('Tasks that must be completed first.'),
  acceptPartial: z
    .boolean()
    .optional()
    .describe(
      'It also starts after a task that did only a part of its work, or said nothing; left out, it waits then until a person retries it, or that task.',
    ),
  parent: TaskId.optional().describe('The task that this one is a part of.'),
  review: z.boolean().optional().describe('A person accepts the work before it counts as completed.'),
  checks: Checks.nullish().describe('Commands that prove the work is done; those of the agent if left out, none if null.'),
  once: z
    .boolean()
    .optional()
    .describe('Run at most once: nothing is tried again, not even after a crash; if Pawl cuts it short, a person is asked.'),
  skipPlanning: z
    .boolean()
    .optional()
    .describe(
      'false: the agent is asked to plan first and to split large work; true: it is not; left out: only if `subtasks` is given.',
    ),
  failover: z.array(Name).max(10).optional().describe('Agents that go on while the account of the one before is at its limit.'),
  questions: QuestionPolicy.optional(),
  subtasks: SubtaskLimits.optional(),
  record: z
    .boolean()
    .optional()
    .describe('Keeps what its runs ask of models, so that they can be replayed; as the agent’s settings say if left out.'),
  attachments: z
    .array(UploadId)
    .max(100)
    .optional()
    .describe('Files that the agent is given beside the prompt: ids of uploads (POST /api/v1/uploads).'),
})
export type NewTask = z.infer<typeof NewTask>

/** Several tasks that are made together or not at all. They may depend on each other by the names they have here. */
export const NewTasks = z.strictObject({
  tasks: z
    .array(
      NewTask.extend({
        dependsOn: z
          .array(z.string().min(1).max(200))
          .max(100)
          .optional()
          .describe('Tasks that must be completed first: ids, or names of tasks in the same request.'),
      }),
    )
    .min(1)
    .max(1_000),
})
export type NewTasks = z.infer<typeof NewTasks>

/** What may be different when a task is tried again. */
export const TaskRetry = z.strictObject({
  fresh: z.boolean().optional().describe('With a new conversation.'),
  budget: NewTask.shape.budget.describe('Caps that replace those of the task; the others stay.'),
  timeoutMs: NewTask.shape.timeoutMs,
})
export type TaskRetry = z.infer<typeof TaskRetry>

/** What may be changed of a task that waits. */
export const TaskEdit = z.strictObject({
  name: NewTask.shape.name.unwrap().nullable().optional(),
  priority: Priority.optional(),
  tags: NewTask.shape.tags,
})
export type TaskEdit = z.infer<typeof TaskEdit>

/** What a task is held to, as it was decided when it was made. */
export const TaskSettings = TaskSpec.omit({ failover: true }).extend({
  model: z.string().nullable(),
  profile: z.string(),
  budget: Budget,
  timeoutMs: z.number().nullable(),
  retry: ResolvedAgent.shape.retry.unwrap(),
  extraArgs: z.array(z.string()),
  failover: z.array(z.string()).optional().describe('Names of agents.'),
  outputSchema: z.record(z.string(), z.unknown()).optional().describe('The JSON schema that the answer must fit, if any.'),
})
export type TaskSettings = z.infer<typeof TaskSettings>

const Shortfall = z
  .enum(shortfalls)
  .optional()
  .describe('Only of a task that is completed, or in review, and did a part of its work, or said nothing.')

export const TaskSummary = z.object({
  id: TaskId,
  name: z.string().nullable(),
  state: z.enum(taskStates),
  reason: Reason.nullable(),
  shortfall: Shortfall,
  interrupted: z
    .boolean()
    .optional()
    .describe('True of a running task whose process is gone, told where no daemon is there to give it back; left out otherwise.'),
  resumeAt: Time.nullable(),
  agent: z.string(),
  session: SessionId,
  parent: TaskId.nullable(),
  priority: z.number(),
  tags: z.array(z.string()),
  workspace: z.string(),
  prompt: z.string().describe('In lists, only the first 200 characters.'),
  createdAt: Time,
  updatedAt: Time,
  endedAt: Time.nullable(),
  result: z
    .object({
      outcome: z.enum(outcomes),
      text: z.string(),
      verified: z.boolean(),
      costUsd: z.number().nullable(),
      costKnown: z
        .enum(costKnowledge)
        .optional()
        .describe('How the cost is known: `reported` by the program if left out, `priced` by our table, or in part `unknown`.'),
      usage: Usage.nullable(),
      summary: z.string().optional().describe('What was done, in a few sentences.'),
    })
    .nullable(),
  proof: z
    .enum(proofs)
    .describe(
      'Is it known that the work is done? `reported`: the agent says so; `verified`: checks that Pawl ran itself have shown it.',
    ),
  current: z.string().nullable().describe('Of a running task: what the agent does right now, in one line.'),
})
export type TaskSummary = z.infer<typeof TaskSummary>

export const RunView = z.object({
  id: RunId,
  attempt: z.number(),
  fence: z.number(),
  state: z.enum(['admitted', 'running', 'ended']),
  outcome: z.enum(outcomes).nullable(),
  category: z.enum(categoryNames).nullable(),
  message: z.string().nullable(),
  agent: z.string(),
  walls: z.string().nullable(),
  enforced: z.boolean().nullable(),
  profile: z.string().nullable().describe('The profile that was in force; null before the agent is started.'),
  costUsd: z.number().nullable(),
  usage: Usage.nullable(),
  startedAt: Time.nullable(),
  endedAt: Time.nullable(),
})
export type RunView = z.infer<typeof RunView>

export const QuestionView = z.object({
  id: QuestionId,
  task: TaskId,
  kind: z.enum(questionKinds),
  text: z.string(),
  options: z.array(z.string()),
  state: z.enum(questionStates),
  answer: z.string().nullable(),
  askedAt: Time,
  answeredAt: Time.nullable(),
  answeredBy: z.string().nullable().describe('Who answered: a user, `deadline`, or the task of another agent.'),
  multiSelect: z.boolean(),
  digest: z.string().describe('Of what is asked, word for word; an answer that names it answers exactly this.'),
  mayAnswer: z.array(z.string()).nullable().describe('Users and roles who may answer; all who may operate if null.'),
  deadline: Time.nullable(),
  afterDeadline: AfterDeadline.nullable().describe('What happens if nobody answers by then.'),
  escalatedTo: z.string().nullable().describe('The task of another agent that is to answer it.'),
  call: z
    .object({ tool: z.string(), input: z.string().optional() })
    .optional()
    .describe('Of a permission: the tool and its whole input, as JSON without secrets.'),
})
export type QuestionView = z.infer<typeof QuestionView>

export const TaskView = TaskSummary.extend({
  runs: z.array(RunView),
  questions: z.array(QuestionView),
  activity: Activity.nullable().describe(
    'What a running task is doing, and since when; null where the process that is asked does not run it.',
  ),
  dependsOn: z
    .array(z.object({ id: TaskId, name: z.string().nullable(), state: z.enum(taskStates), shortfall: Shortfall }))
    .describe('Tasks that must be completed before this one begins.'),
  subtasks: z
    .array(z.object({ id: TaskId, parent: TaskId, name: z.string().nullable(), state: z.enum(taskStates), shortfall: Shortfall }))
    .describe('Everything below it, each after its parent.'),
  settings: TaskSettings.describe('What its runs are held to.'),
  cost: TaskCost.describe('What was spent so far, also while it runs.'),
  artifacts: z.number().int().describe('How many files its runs have left for people.'),
  suspect: z
    .object({
      since: Time,
      host: z.string().describe('Where its worker died.'),
      lastedMs: z.number().describe('How long its run had lasted by then.'),
      deaths: z.number().int().describe('How often its worker has died while it ran.'),
      lostAlone: z
        .number()
        .int()
        .describe('How often a worker has died while only this task ran: the second time it is blocked.'),
    })
    .optional()
    .describe('Only of a task whose program ran when its worker died: it runs alone until a run of it has ended by itself.'),
})
export type TaskView = z.infer<typeof TaskView>

export const SessionSummary = z.object({
  id: SessionId,
  agent: z.string(),
  adapter: z.string(),
  workspace: z.string(),
  vendorId: z.string().nullable().describe('The id that the agent program gave to the conversation; null while there is none.'),
  taskCount: z.number(),
  lastTask: z.object({ id: TaskId, state: z.enum(taskStates), shortfall: Shortfall }).nullable(),
  archivedBytes: z.number().describe('How much of the program’s own files is kept in the database.'),
  createdAt: Time,
  updatedAt: Time.describe('When it or its last task changed.'),
  title: z.string().nullable().describe('What its first task is called, or the beginning of its prompt.'),
  openQuestions: z.number().describe('How many questions of its tasks wait for an answer.'),
  costUsd: z.number().nullable().describe('What its tasks have cost, as far as that is known; null if nothing is.'),
})
export type SessionSummary = z.infer<typeof SessionSummary>

/** What the next tasks of a session are to be done with. Nobody is held to it: it is for whoever speaks in the session to remember. */
export const SessionChoice = z.strictObject({
  agent: Name.optional(),
  profile: Name.optional(),
  model: NewTask.shape.model,
})
export type SessionChoice = z.infer<typeof SessionChoice>

export const SessionChoices = SessionChoice.extend({ chosenAt: Time })
export type SessionChoices = z.infer<typeof SessionChoices>

export const SessionView = SessionSummary.extend({
  choices: SessionChoices.nullable().describe('What was chosen for its next tasks, and when; null if nothing was.'),
  tasks: z.array(TaskSummary).describe('The newest 50, newest first.'),
})
export type SessionView = z.infer<typeof SessionView>

export const NewSession = z.strictObject({
  agent: Name.optional().describe('An agent of the daemon’s configuration; the default one if left out.'),
  agentConfig: ResolvedAgent.optional().describe('A whole agent, resolved by the client from its own folder; wins over `agent`.'),
  workspace: z.string().min(1).max(4096).describe('An absolute path: where its tasks work unless they say otherwise.'),
  allowHome: NewTask.shape.allowHome,
})
export type NewSession = z.infer<typeof NewSession>

export const SessionAdoption = z.strictObject({
  vendorId: z.string().min(1).max(200).describe('The id that the agent program gave to the conversation.'),
  agent: Name.optional().describe('The agent that goes on with it; left out, each that keeps conversations is asked for it.'),
  agentConfig: ResolvedAgent.optional().describe('A whole agent, resolved by the client from its own folder; wins over `agent`.'),
  workspace: z.string().min(1).max(4096).describe('An absolute path: where its tasks work unless they say otherwise.'),
  allowHome: NewTask.shape.allowHome,
})
export type SessionAdoption = z.infer<typeof SessionAdoption>

export const SessionStop = z.object({
  session: SessionId,
  stopped: TaskView.nullable().describe('The task that ran, stopped or stopping; null if none did.'),
})
export type SessionStop = z.infer<typeof SessionStop>

export const AgentView = z.object({
  name: z.string(),
  adapter: z.string(),
  model: z.string().nullable(),
  profile: z.string(),
  source: z.string(),
  isDefault: z.boolean(),
  title: z.string().describe('What the program is called.'),
  isOurs: z.boolean().describe('The program is part of Pawl.'),
  can: z.array(z.string()),
  tried: z
    .object({ from: z.string(), to: z.string() })
    .nullable()
    .describe('Versions of the program that Pawl was tried with, both included; null if it was never tried with a real one.'),
  install: z.string().nullable().describe('The command that installs the program.'),
  health: z.object({
    installed: z.boolean(),
    healthy: z.boolean(),
    version: z.string().nullable(),
    loggedIn: z.boolean().nullable(),
    detail: z.string(),
    fix: z.string().nullable(),
    warning: z.string().nullable().describe('What is unusual about it and keeps nobody from using it.'),
  }),
  login: z
    .object({ variables: z.array(z.string()), files: z.array(z.string()) })
    .nullable()
    .describe('Variables that may hold its key, and files of its own login; null if it needs neither.'),
  hosts: z.array(z.string()).describe('Where the program itself talks to while nobody serves its model.'),
  obeys: z.array(z.string()).describe('What of a workspace the program obeys; covered, or given as the profile says.'),
  tools: z.array(z.string()).describe('The tools that the program brings.'),
  sessionFiles: z.array(z.string()).describe('Where its conversations lie in the home of a session; empty if it keeps none.'),
})
export type AgentView = z.infer<typeof AgentView>

export const WarmView = z.object({ session: SessionId, agent: z.string(), pid: z.number(), idleSince: Time })
export type WarmView = z.infer<typeof WarmView>

export const HaltView = z.object({ at: Time, by: z.string(), reason: z.string().nullable() })
export type HaltView = z.infer<typeof HaltView>

export const SelfTestView = z.object({
  profile: z.string(),
  passed: z.boolean(),
  at: Time,
  ms: z.number(),
  failure: z.string().optional().describe('Why nothing can be said.'),
  canaries: z.array(z.object({ name: z.string(), verdict: z.enum(['held', 'escaped', 'untested']), detail: z.string() })),
})

export const HealthView = z.object({
  version: z.string(),
  home: z.string(),
  pid: z.number(),
  startedAt: Time,
  database: z.object({ kind: z.enum(['embedded', 'url']), version: z.string() }),
  walls: z.object({
    name: z.string(),
    enforced: z.boolean(),
    detail: z.string(),
    fix: z.string().nullable(),
    selfTests: z.array(SelfTestView).describe('What trying to get out of the walls of each profile has shown.'),
  }),
  warm: z.array(WarmView).describe('Agent programs that wait for the next turn of their session.'),
  halt: HaltView.nullable().describe('Set while all agents are stopped: nothing starts until "pawl resume".'),
  notifications: z
    .object({ waiting: z.number(), dead: z.number() })
    .describe('How many are to be sent, and how many were given up.'),
  tasks: z.record(z.string(), z.number()).describe('How many tasks are in each state.'),
  schedules: z
    .object({
      active: z.number(),
      paused: z.number(),
      unhealthy: z.array(z.object({ id: z.string(), name: z.string().nullable(), failedInARow: z.number(), detail: z.string() })),
      refused: z
        .array(z.object({ name: z.string(), source: z.string(), detail: z.string() }))
        .describe('Those of the settings that are not in force, and why.'),
    })
    .describe('Of those whose last ticks failed or brought nothing, what went wrong.'),
  agents: z.array(AgentRecord).describe('How the last runs of each agent went that ran within a week.'),
  stuck: z.array(StuckTask).describe('Tasks that run and of which nothing has been heard for ten minutes.'),
})
export type HealthView = z.infer<typeof HealthView>

export interface Page<T> {
  items: T[]
  /** Give it back to get what follows; null at the end. */
  next: string | null
}
