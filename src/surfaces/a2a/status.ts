import type { Part, TaskStatus } from '@a2a-js/sdk'
import { categories, type Shortfall } from '../../domain/run/outcome.ts'
import { stageOf } from '../../domain/task/stage.ts'
import { shortfallOf } from '../../domain/task/task.ts'
import type { QuestionView, TaskSummary, TaskView } from '../../domain/view/view.ts'
import { byAgent, dataPart, textPart } from './say.ts'
import { stateAt } from './state.ts'

type Shown = TaskSummary & { readonly questions?: TaskView['questions'] }

/** Where a task stands and, where that needs words, what there is to say of it. */
export function statusOf(task: Shown): TaskStatus {
  const said = wordsOf(task)
  return {
    state: stateAt(stageOf(task)),
    timestamp: task.updatedAt,
    message: said && byAgent({ ...said, task }),
  }
}

/** What is known of the task beyond the protocol's own words. */
export const metadataOf = ({ agent, state, reason, result, proof, resumeAt }: TaskSummary): Record<string, unknown> => ({
  agent,
  pawl: {
    state,
    ...(reason ? { reason: reason.kind } : {}),
    ...(resumeAt ? { resumeAt } : {}),
    ...(result ? { outcome: result.outcome, proof, ...(result.costUsd === null ? {} : { costUsd: result.costUsd }) } : {}),
  },
})

/** A question with what can be answered, for people as text and for programs as data. */
export const questionParts = ({ id, kind, text, options, multiSelect, deadline }: QuestionView): Part[] => [
  textPart(options.length === 0 ? text : `${text}\n\n${options.map((option, n) => `${n + 1}. ${option}`).join('\n')}`),
  dataPart({ question: id, kind, options, multiSelect, ...(deadline ? { deadline } : {}) }),
]

function wordsOf(task: Shown): Pick<Parameters<typeof byAgent>[0], 'id' | 'parts' | 'metadata'> | undefined {
  const { id, state, reason } = task
  switch (state) {
    case 'blocked': {
      const asked = task.questions?.find((question) => question.state === 'pending')
      if (asked) return { id: asked.id, parts: questionParts(asked) }
      return reason?.kind === 'subtasks'
        ? undefined
        : sentence(id, reason?.detail ?? 'The task waits for somebody to look at it.')
    }
    case 'review':
      return sentence(id, reviewSentence)
    case 'completed': {
      const short = shortfallOf(task)
      return short && sentence(id, shortSentences[short])
    }
    case 'parked':
      return reason?.detail === undefined ? undefined : sentence(id, reason.detail)
    case 'failed':
    case 'timed_out':
    case 'over_budget':
      return { ...sentence(id, reason?.detail ?? plain(reason?.kind)), metadata: { category: reason?.kind ?? state } }
    default:
      return undefined
  }
}

/** The protocol has no word for work that is over and not done. */
export const shortSentences: Readonly<Record<Shortfall, string>> = {
  partial: 'The task is completed, but the agent did only a part of the work.',
  empty: 'The task is completed, but the agent said nothing.',
}

export const reviewSentence = 'The work is done and waits for a person to accept it.'

const sentence = (task: string, text: string) => ({ id: `${task}-status`, parts: [textPart(text)] })

const plain = (kind: string | undefined) =>
  kind !== undefined && Object.hasOwn(categories, kind)
    ? categories[kind as keyof typeof categories].says
    : 'The task ended without success.'
