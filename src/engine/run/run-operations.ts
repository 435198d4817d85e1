import { PawlError } from '../../domain/error.ts'
import type { ExactCall, QuestionAsked } from '../../domain/question/question.ts'
import type { TakenRun } from '../../store/runs.ts'
import type { RunContext } from '../base/run-context.ts'
import type { DoorVerbs } from '../endpoint/endpoint.ts'
import { askQuestions } from '../questions/ask.ts'
import { waitForAnswers } from '../questions/window.ts'
import type { RunParts } from './run.ts'
import { subtaskVerbs } from './subtask-operations.ts'

/** More than anybody would answer or read; a program that loops must not fill the store. */
const mostQuestions = 50
const mostMessages = 200

export interface RunVerbs extends DoorVerbs {
  /** `call` is what a permission is asked for: the answer counts for exactly that. */
  ask(question: QuestionAsked, call?: ExactCall): Promise<{ readonly id: string }>
  consult(questions: readonly QuestionAsked[], call?: ExactCall): Promise<readonly string[] | undefined>
}

/** What an agent may ask of us, whichever way it asks: by its own protocol, by a tool, or at the door. */
export function runVerbs(taken: TakenRun, parts: RunParts, voice: RunContext): RunVerbs {
  const { run, task } = taken
  const { watch } = voice
  const left = { questions: mostQuestions, messages: mostMessages }
  const spend = (what: keyof typeof left, count = 1) => {
    left[what] -= count
    if (left[what] < 0) throw new PawlError('denied', `This run has sent all the ${what} that one run may send; go on without.`)
  }
  /** Somebody sits there and sees the question: whoever began the task at a terminal and still follows it, or who says so. */
  const isWatched = () => {
    const { followers, attending } = parts.journal.readersOf(task.id)
    return attending > 0 || (task.attended && followers > 0)
  }
  return {
    describe: () => ({ task: task.id, run: run.id, attempt: run.attempt }),
    subtasks: subtaskVerbs(taken, parts, voice),
    async notify(text) {
      spend('messages')
      watch.sawEvent()
      await voice.recordEvent({ type: 'message.sent', data: { text } })
      // Whoever is told that it was sent may end at once.
      await parts.journal.flush()
    },
    async ask(question, call) {
      spend('questions')
      watch.sawEvent()
      const [id] = await askQuestions(taken, parts, [question], { isHeld: false, call })
      return { id: id! }
    },
    async consult(questions, call) {
      spend('questions', questions.length)
      watch.sawEvent()
      const { liveWindowMs: lastsMs, onAnswer } = parts.questions
      const isHeld = lastsMs > 0 && isWatched()
      const ids = await askQuestions(taken, parts, questions, { isHeld, call })
      if (!isHeld) return undefined
      const { db, clock } = parts
      const { signal } = watch
      return waitForAnswers(ids, { db, clock, fence: run.fence, lastsMs, onAnswer, signal, beat: () => watch.sawEvent() })
    },
  }
}
