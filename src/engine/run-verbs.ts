import { PawlError } from '../domain/error.ts'
import { newId } from '../domain/id.ts'
import type { QuestionAsked } from '../domain/question.ts'
import { insertQuestion, questionsOfTask } from '../store/questions.ts'
import type { TakenRun } from '../store/runs.ts'
import { lockTask } from '../store/tasks.ts'
import type { DoorVerbs } from './program/door.ts'
import type { RunParts, Voice } from './run.ts'

/** More than anybody would answer or read; a program that loops must not fill the store. */
const mostQuestions = 50
const mostMessages = 200

/** What an agent may ask of us, whichever way it asks: by its own protocol, by a tool, or at the door. */
export function runVerbs(taken: TakenRun, parts: RunParts, voice: Voice): DoorVerbs {
  const { run, task } = taken
  const left = { questions: mostQuestions, messages: mostMessages }
  const spend = (what: keyof typeof left) => {
    if (left[what]-- <= 0)
      throw new PawlError('denied', `This run has sent all the ${what} that one run may send; go on without.`)
  }
  return {
    describe: () => ({ task: task.id, run: run.id, attempt: run.attempt }),
    async notify(text) {
      spend('messages')
      voice.watch.sawEvent()
      await voice.recordEvent({ type: 'message.sent', data: { text } })
      // Whoever is told that it was sent may end at once.
      await parts.journal.flush()
    },
    async ask(asking: QuestionAsked) {
      spend('questions')
      voice.watch.sawEvent()
      const question = parts.redactor.value(asking)
      const { kind, text, options } = question
      const id = newId('question', parts.clock.now())
      // What the agent said before it asked stands before the question in the journal.
      await parts.journal.flush()
      return parts.journal.transact('question.ask', async (tx, record) => {
        const at = new Date(parts.clock.now())
        await lockTask(tx, task.id)
        // An agent that was not told whether its question is stored asks it again.
        const asked = await questionsOfTask(tx, task.id)
        const same = asked.find((earlier) => earlier.run_id === run.id && earlier.state === 'pending' && earlier.text === text)
        if (same) return { id: same.id }
        if (!(await insertQuestion(tx, { ...question, id, task: task.id, run: run.id, fence: run.fence, at })))
          throw new PawlError('conflict', 'This run is over.')
        record({
          task: task.id,
          run: run.id,
          fence: run.fence,
          event: { type: 'question.asked', data: { questionId: id, kind, text, options } },
        })
        return { id }
      })
    },
  }
}
