import { z } from 'zod'
import { ArtifactId, QuestionId, RunId, TaskId } from '../id.ts'
import { costKnowledge } from '../money/cost.ts'
import { Totals } from '../money/totals.ts'
import { Usage } from '../money/usage.ts'
import { questionKinds } from '../question/question.ts'
import { categoryNames, outcomes, shortfalls } from '../run/outcome.ts'

const Time = z.iso.datetime()
/** Left out of a task that was never run. */
const totals = Totals.optional()

/**
 * Every fact Pawl records, with the shape of its data. Types, validation, SSE, the CLI's and the page's renderers and docs/events.md
 * derive from this table; the sentence in `describe` is the documentation.
 */
export const eventData = {
  'task.queued': z
    .object({ agent: z.string(), priority: z.number(), workspace: z.string(), warning: z.string().optional() })
    .describe(
      'The task was accepted and is durable. `warning` says why it may come to nothing, such as a budget that is too small.',
    ),
  'task.created': z
    .object({
      agent: z.string(),
      priority: z.number(),
      workspace: z.string(),
      waitsFor: z.array(TaskId),
      warning: z.string().optional(),
    })
    .describe('The task was accepted and is durable; it is queued when the tasks it waits for are completed.'),
  'task.edited': z
    .object({
      by: z.string(),
      name: z.string().nullable().optional(),
      priority: z.number().optional(),
      tags: z.array(z.string()).optional(),
    })
    .describe('Somebody changed what the task is called, how urgent it is, or how it is found.'),
  'task.requeued': z
    .object({
      why: z.enum([
        'retry',
        'answer',
        'wake',
        'interrupted',
        'lost',
        'rejected',
        'again',
        'failover',
        'checks',
        'subtasks',
        'dependencies',
      ]),
      detail: z.string().optional(),
      after: z.string().optional().describe('Of a wake: what it had waited for.'),
    })
    .describe('The task went back to the queue, and why. Interrupted and lost cost no attempt.'),
  'task.cancel_requested': z.object({ now: z.boolean(), by: z.string() }).describe('Somebody asked for the task to stop.'),
  'task.completed': z
    .object({ verified: z.boolean(), by: z.string().optional(), outcome: z.enum(shortfalls).optional(), totals })
    .describe(
      'The task is done; `verified` says whether its checks proved it, `by` who accepted it after a review, `outcome` that its agent did only a part of the work or said nothing, `totals` what all its runs came to together.',
    ),
  'task.review': z
    .object({ outcome: z.enum(shortfalls).optional(), totals })
    .describe('The work waits for a person to accept it; `outcome` says that the agent did only a part of it or said nothing.'),
  'task.failed': z
    .object({ category: z.enum(categoryNames), message: z.string(), totals })
    .describe('The task ended without success.'),
  'task.timed_out': z
    .object({ category: z.enum(categoryNames), message: z.string(), totals })
    .describe('The task ran out of time.'),
  'task.cancelled': z.object({ by: z.string(), totals }).describe('The task was cancelled.'),
  'task.over_budget': z.object({ message: z.string(), totals }).describe('The task used up its budget.'),
  'task.blocked': z
    .object({ kind: z.string(), questionId: QuestionId.optional(), detail: z.string().optional() })
    .describe('The task waits for something only others can give. It costs nothing meanwhile.'),
  'task.parked': z
    .object({ kind: z.string(), until: Time, detail: z.string().optional() })
    .describe('The task waits for a time and then goes on by itself.'),
  'subtask.created': z
    .object({ task: TaskId, name: z.string().optional() })
    .describe('The agent handed a part of its work to a subtask.'),
  'subtask.ended': z
    .object({ task: TaskId, name: z.string().optional(), state: z.string() })
    .describe('A subtask has ended, well or not.'),
  'run.admitted': z
    .object({ attempt: z.number(), fence: z.number(), agent: z.string() })
    .describe('The task may run; a worker takes it next.'),
  'run.started': z
    .object({
      attempt: z.number(),
      fence: z.number(),
      worker: z.string(),
      walls: z.string(),
      enforced: z.boolean(),
      resumed: z.boolean(),
      profile: z.string().optional(),
      soFar: totals,
    })
    .describe(
      'A worker took the run and is about to start the agent. `enforced` says whether the walls hold, `soFar` what the earlier runs of the task came to together.',
    ),
  'run.ended': z
    .object({
      outcome: z.enum(outcomes),
      category: z.enum(categoryNames).optional(),
      message: z.string().optional(),
      exitCode: z.number().nullable().optional(),
      signal: z.string().nullable().optional(),
      usage: Usage.optional(),
      costUsd: z.number().optional(),
      durationMs: z.number(),
    })
    .describe('The run is over. Exactly one per run.'),
  'run.noted': z
    .object({ code: z.string(), detail: z.string() })
    .describe('Something about the run that a reader should know: a cut line, a capped log, a workspace copy, a late result.'),
  'agent.message': z.object({ text: z.string() }).describe('The agent said something.'),
  'agent.thinking': z.object({ text: z.string() }).describe('The agent thought aloud.'),
  'agent.tool_called': z
    .object({ callId: z.string(), tool: z.string(), input: z.unknown(), parent: z.string().optional() })
    .describe('The agent used a tool. One that a subagent used names the call that started the subagent as `parent`.'),
  'agent.tool_returned': z
    .object({ callId: z.string(), output: z.string(), isError: z.boolean() })
    .describe("A tool's answer came back to the agent."),
  'agent.usage': z
    .object({
      usage: Usage,
      model: z.string().optional(),
      costUsd: z.number().optional(),
      known: z.enum(costKnowledge).optional(),
    })
    .describe(
      'What the agent used since it was last told, mostly by one call of a model. `known` says whether the program told the cost, our price table did, or nobody knows it.',
    ),
  'model.called': z
    .object({
      number: z.number().int().describe('Counts the calls of the run, from 1.'),
      model: z.string().describe('As the agent program calls it.'),
      provider: z.string(),
      target: z.string().describe("The provider's own name for it, which the ledger has too."),
      status: z.number().int().optional(),
      usage: Usage.optional(),
      reasoningTokens: z.number().int().optional().describe('A part of the output.'),
      pieces: z.record(z.string(), z.number()).optional().describe('Things paid by the piece, such as searches.'),
      costUsd: z.number().optional(),
      countedUsd: z.number().optional().describe('What caps count.'),
      known: z.enum(costKnowledge).optional(),
      firstMs: z.number().optional(),
      durationMs: z.number(),
      translated: z.boolean().optional(),
      abandoned: z.boolean().optional(),
      refusal: z.object({ kind: z.string(), message: z.string(), retryAt: Time.optional() }).optional(),
      alike: z
        .number()
        .int()
        .optional()
        .describe(
          'So many calls before it, which no event tells of, were refused in the same way: a flood of them is told now and then.',
        ),
    })
    .describe(
      'A call of a model through the gateway is over, and its line of the ledger is stored with this. One that no provider has served has no cost; one that was served without telling its usage counts as the most it could have cost.',
    ),
  'agent.session': z.object({ vendorId: z.string() }).describe('The agent program named its conversation.'),
  'agent.retrying': z
    .object({ attempt: z.number(), of: z.number().optional(), delayMs: z.number().optional(), detail: z.string() })
    .describe('The agent program tries a model call again by itself.'),
  'agent.compacted': z
    .object({ trigger: z.string(), tokensBefore: z.number().optional() })
    .describe('The agent program shortened its own memory of the conversation.'),
  'agent.stderr': z.object({ text: z.string() }).describe('The agent program wrote to standard error.'),
  'agent.unknown': z
    .object({ raw: z.string() })
    .describe('The agent program printed something this version does not understand; kept as it was.'),
  'session.restored': z
    .object({ vendorId: z.string(), why: z.string(), files: z.number(), bytes: z.number() })
    .describe("The program's files of the conversation were put back from the archive."),
  'session.rebuilt': z
    .object({ vendorId: z.string().optional(), why: z.string(), form: z.enum(['native', 'message']), utterances: z.number() })
    .describe('The conversation was made anew from the journal: as a file of the program, or as its first message.'),
  'session.reset': z
    .object({ vendorId: z.string(), why: z.string() })
    .describe('The conversation could not be gone on with, or was not wanted any more; a new one begins.'),
  'session.adopted': z
    .object({ vendorId: z.string(), from: z.string() })
    .describe('A conversation that was begun in the program itself goes on here.'),
  'message.sent': z.object({ text: z.string() }).describe('The agent sent the user a message beside its answer.'),
  'workspace.changed': z
    .object({ summary: z.string(), files: z.number() })
    .describe('What the run changed in the workspace, in one line.'),
  'workspace.quarantined': z
    .object({ paths: z.array(z.string()), keptAt: z.string() })
    .describe('Files that other programs would execute were planted in the workspace; they were moved out of it and kept.'),
  'workspace.flagged': z
    .object({ paths: z.array(z.string()) })
    .describe('The run changed files of the work that will be executed one day: build files, scripts, workflows.'),
  'artifact.added': z
    .object({ artifact: ArtifactId, name: z.string(), type: z.string(), size: z.number() })
    .describe('The run left a file for people, in the place of one that had the same name.'),
  'check.started': z
    .object({ number: z.number(), of: z.number(), name: z.string(), command: z.string() })
    .describe('The agent is done and a check of its work begins.'),
  'check.ended': z
    .object({
      number: z.number(),
      name: z.string(),
      passed: z.boolean(),
      exitCode: z.number().nullable(),
      why: z.string().optional(),
      durationMs: z.number(),
      outputDigest: z.string(),
      tree: z.string().nullable(),
      changedTree: z.boolean(),
    })
    .describe(
      'A check of the work ended. `tree` is the hash of the workspace after it; `changedTree` says that the check itself wrote there.',
    ),
  'permission.decided': z
    .object({
      verdict: z.enum(['allowed', 'denied']),
      tool: z.string(),
      call: z.string(),
      rule: z.string().optional(),
      from: z.string(),
      why: z.string(),
    })
    .describe('The agent was refused something, or a person allowed it. What a rule allows is told by the call itself.'),
  'network.decided': z
    .object({
      host: z.string(),
      port: z.number(),
      verdict: z.enum(['allow', 'ask', 'deny']),
      rule: z.string().optional(),
      why: z.string(),
      via: z.enum(['http', 'connect', 'socks4', 'socks5', 'fetch']),
    })
    .describe('The agent wanted to reach a host, for the first time in this run, and what was decided.'),
  'network.used': z
    .object({
      hosts: z.array(
        z.object({
          host: z.string(),
          port: z.number(),
          verdict: z.enum(['allow', 'ask', 'deny']),
          times: z.number(),
          sent: z.number(),
          received: z.number(),
        }),
      ),
      others: z.number(),
    })
    .describe('Every host the run wanted to reach, how often, and how many bytes went each way.'),
  'hook.ran': z
    .object({
      notification: z.string(),
      name: z.string(),
      event: z.string(),
      attempt: z.number(),
      exitCode: z.number().nullable(),
      output: z.string(),
      durationMs: z.number(),
      failure: z.string().optional(),
    })
    .describe('A command of the owner was run because of an event of this task; `output` is the end of what it printed.'),
  'question.asked': z
    .object({
      questionId: QuestionId,
      kind: z.enum(questionKinds),
      text: z.string(),
      options: z.array(z.string()),
      multiSelect: z.boolean().optional(),
      deadline: Time.optional(),
    })
    .describe('The agent asked something only a person or another agent can decide.'),
  'question.answered': z
    .object({ questionId: QuestionId, answer: z.string(), by: z.string() })
    .describe('The question was answered.'),
  'question.escalated': z
    .object({
      questionId: QuestionId,
      text: z.string(),
      options: z.array(z.string()),
      agent: z.string().optional(),
      task: TaskId.optional(),
      webhook: z.string().optional(),
      until: Time,
    })
    .describe('Nobody answered in time, so somebody else is asked: another agent by a task of its own, or a webhook.'),
  'question.closed': z
    .object({ questionId: QuestionId, state: z.enum(['expired', 'cancelled']) })
    .describe('The question needs no answer any more.'),
} as const
export type EventType = keyof typeof eventData
export const eventTypes = Object.keys(eventData) as [EventType, ...EventType[]]
export type EventData<T extends EventType> = z.infer<(typeof eventData)[T]>

export const Envelope = z.object({ seq: z.number().int(), at: Time, task: TaskId, run: RunId.optional() })
export type Event = { [T in EventType]: z.infer<typeof Envelope> & { type: T; data: EventData<T> } }[EventType]

/** An event before the journal has numbered it. */
export type NewEvent = { [T in EventType]: { type: T; data: EventData<T> } }[EventType]
/** What an adapter may say: facts about the agent. Everything else is said by the engine alone, whatever an agent prints. */
export type AgentEvent = Extract<NewEvent, { type: `agent.${string}` }>

export { isRestingEvent, restingEvents } from './resting.ts'
