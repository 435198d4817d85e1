import { conflict, notFound } from '../../domain/error.ts'
import type { QuestionView } from '../../domain/view/view.ts'
import type { Runtime } from '../../operations/runtime.ts'
import { oneLine } from '../text/plain.ts'
import { ambiguous, fits, isPartOfId, isWholeId } from './find.ts'
import { findTask } from './find-task.ts'

/** The question that a person named: by its own id or a part of it, or as the one thing that a task waits for. */
export async function findQuestion(
  runtime: Pick<Runtime, 'getQuestion' | 'listQuestions' | 'listTasks'>,
  named: string,
): Promise<QuestionView> {
  if (isWholeId('q', named)) return runtime.getQuestion(named)
  if (named !== 'last' && isPartOfId(named)) {
    const open = await runtime.listQuestions({ state: 'pending' })
    const found = open.filter(({ id, task }) => fits(named, id) || fits(named, task))
    if (found.length === 1) return found[0]!
    if (found.length > 1) throw ambiguous(named, { called: 'question', says: ({ text }) => oneLine(text, 70) }, found)
    if (named.startsWith('q_')) throw notFound(`No question "${named}" waits for an answer; "pawl questions" lists them.`)
  }
  const task = await findTask(runtime, named)
  const open = await runtime.listQuestions({ state: 'pending', task })
  if (open.length === 0) throw notFound(`Task ${task} asks nothing at the moment.`)
  if (open.length > 1)
    throw conflict(
      `Task ${task} asks ${open.length} questions; name one:\n${open.map((each) => `  ${each.id}  ${oneLine(each.text, 70)}`).join('\n')}`,
    )
  return open[0]!
}
