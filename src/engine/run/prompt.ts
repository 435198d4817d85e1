import { fenced, named } from '../../domain/base/fenced.ts'
import type { Outcome } from '../../domain/run/outcome.ts'
import type { SubtaskView } from '../../domain/task/subtask.ts'
import { isEnded } from '../../domain/task/task.ts'
import type { Answered, Continuation, SubtaskResult } from '../../store/tables.ts'
import { schemaInstruction } from './structured-output.ts'

/** What a run is told is made of this. */
export interface PromptParts {
  readonly prompt: string
  readonly continuation: Continuation | null
  readonly resumed: boolean
  /** What was said before, for a program that has lost it. */
  readonly preface?: string | undefined
  /** The run before this one on the same task. */
  readonly earlier?: { outcome: string | null; category: string | null; message: string | null } | undefined
  /** An earlier run of the task has used tools, so some of the work may be done. */
  readonly toolsRan: boolean
  readonly outputSchema?: Readonly<Record<string, unknown>> | undefined
  /** How to plan and to split the work, for a task that is to be planned. */
  readonly planning?: string | undefined
  /** The subtasks that there are already, for a program that may not know of them, and what became of them. */
  readonly subtasks?: readonly SubtaskView[] | undefined
  /** Calls of tools that were cut short, for a program whose own record does not show them. */
  readonly cutCalls?: readonly CutCall[] | undefined
}

export interface CutCall {
  readonly tool: string
  readonly input: unknown
}

/** What the agent is told in this run. A program that remembers the conversation hears only what is new; any other hears the whole of it again. */
export function composePrompt(input: PromptParts): string {
  // Whoever waits for an answer knows what was asked.
  const cut = input.continuation?.kind === 'answer' ? [] : (input.cutCalls ?? [])
  const message = [...cut.map(cutShortCall), messageOf(input)].join('\n\n')
  const whole = input.outputSchema ? `${message}\n\n${schemaInstruction(input.outputSchema)}` : message
  return input.preface === undefined ? whole : `${input.preface}\n${whole}`
}

function messageOf(input: PromptParts): string {
  const { continuation, resumed } = input
  switch (continuation?.kind) {
    case 'answer': {
      const { answers } = continuation
      if (!resumed) return toldAgain(input, answers.map(told))
      const fresh = answers.filter((answer) => !answer.heard)
      return fresh.length === 1 ? fresh[0]!.answer : fresh.map(told).join('\n')
    }
    case 'checks':
      return resumed ? failedChecks(continuation.failed) : toldAgain(input, [failedChecks(continuation.failed)])
    case 'rejected': {
      const words = [...(continuation.results ? [ended(continuation.results)] : []), rejected(continuation.comment)].join('\n\n')
      return resumed ? words : toldAgain(input, [words])
    }
    case 'subtasks': {
      const words = `${ended(continuation.results)}\n\n${goOn}`
      return resumed ? words : toldAgain(input, [words])
    }
    default:
      return plainMessage(input)
  }
}

/** The task and what has happened since, for a program that remembers nothing of it. */
function toldAgain(input: PromptParts, words: readonly string[]): string {
  const isSaid =
    input.continuation?.kind === 'subtasks' || (input.continuation?.kind === 'rejected' && input.continuation.results)
  return [input.prompt, '', ...(isSaid ? [] : known(input.subtasks)), ...words].join('\n')
}

function plainMessage({ prompt, resumed, earlier, toolsRan, planning, subtasks = [] }: PromptParts): string {
  const outcome = earlier?.outcome ?? ''
  if (resumed && earlier?.category === 'invalid_output') return `${earlier.message ?? ''} Give the answer again, in that form.`
  // Whoever has split the work already is not asked to do it once more.
  const task = planning === undefined || subtasks.length > 0 || (resumed && toolsRan) ? prompt : `${planning}\n\n${prompt}`
  const whole = subtasks.length === 0 ? task : [...known(subtasks), task].join('\n')
  if (!cutShort.has(outcome)) return whole
  const ending = outcome.replaceAll('_', ' ')
  // It may have been cut short before it heard what to do.
  if (resumed)
    return `Your last run on this task was cut short (${ending}). Look at what is already done, do not repeat it, and go on. The task was:\n\n${whole}`
  if (!toolsRan) return whole
  return `An earlier run on this task was cut short (${ending}) after it had begun to work. Look at what is already done, and do not repeat it. The task is:\n\n${whole}`
}

const cutShortCall = ({ tool, input }: CutCall) =>
  `[You were cut short while you used the tool ${named(tool)}. Your record of this conversation does not show it, and nobody knows how it ended. What you gave it:]\n${fenced((JSON.stringify(input) ?? '').slice(0, 4_000).toWellFormed())}`

const cutShort: ReadonlySet<string> = new Set<Outcome>([
  'failed',
  'timed_out',
  'cancelled',
  'denied',
  'tripped',
  'over_budget',
  'interrupted',
  'lost',
])

const told = ({ question, answer }: Answered) =>
  ['[You asked earlier]', fenced(question), '[The answer]', fenced(answer)].join('\n')

const failedChecks = (failed: Extract<Continuation, { kind: 'checks' }>['failed']) =>
  [
    `Your work was checked, and it did not pass: ${failed.length === 1 ? 'one check' : `${failed.length} checks`} failed. Mend what is wrong and go on until ${failed.length === 1 ? 'it passes' : 'they pass'}; do not weaken the checks.`,
    ...failed.map(({ name, exitCode, output }) =>
      [
        `[The check "${named(name)}" ${exitCode === null ? 'was ended' : `ended with code ${exitCode}`}; the end of what it printed]`,
        fenced(output.trim() === '' ? '(nothing)' : output),
      ].join('\n'),
    ),
  ].join('\n\n')

const rejected = (comment: string) =>
  [
    'Your work was reviewed and not accepted yet. Change what the reviewer asks for, and go on.',
    '[The comment]',
    fenced(comment),
  ].join('\n')

const goOn = 'Look at what they have done in the workspace, finish what is left of the task, and answer for the whole of it.'

const ended = (results: readonly SubtaskResult[]) =>
  [
    `${results.length === 1 ? 'The subtask that you made has' : `The ${results.length} subtasks that you made have`} ended.`,
    ...results.map(({ task, name, state, text }) =>
      [
        `[Subtask ${task}${name === null ? '' : ` "${named(name)}"`}: ${state.replaceAll('_', ' ')}]`,
        fenced(text || '(nothing)'),
      ].join('\n'),
    ),
  ].join('\n\n')

/** What there is already must not be made a second time. */
function known(subtasks: readonly SubtaskView[] = []): string[] {
  if (subtasks.length === 0) return []
  return [
    'Subtasks of this task have been made already. Do not make them again:',
    ...subtasks.map(({ id, name, state, text }) =>
      [
        `[Subtask ${id}${name === null ? '' : ` "${named(name)}"`}: ${state.replaceAll('_', ' ')}]`,
        ...(isEnded(state) && text ? [fenced(text)] : []),
      ].join('\n'),
    ),
    '',
  ]
}
