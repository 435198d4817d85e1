import { expect, test } from 'vitest'
import type { QuestionView, TaskSummary } from '../../domain/view/view.ts'
import { findQuestion } from './find-question.ts'

const asked = [
  { id: 'q_01h000000000000aaa', task: 't_01h000000000000bbb', text: 'Which port?' },
  { id: 'q_01h000000000000ccc', task: 't_01h000000000000ddd', text: 'Which host?' },
  { id: 'q_01h000000000000eee', task: 't_01h000000000000ddd', text: 'Which name?' },
] as QuestionView[]

const runtime = {
  getQuestion: async (id: string) => asked.find((each) => each.id === id)!,
  listQuestions: async ({ task }: { task?: string | undefined }) =>
    asked.filter((each) => task === undefined || each.task === task),
  listTasks: async () => ({ items: [{ id: 't_01h000000000000fff', parent: null }] as TaskSummary[], next: null }),
}

test('a question is named by its id, a part of it, or the task that asks it', async () => {
  expect(await findQuestion(runtime, asked[1]!.id)).toBe(asked[1])
  expect(await findQuestion(runtime, '0ccc')).toBe(asked[1])
  expect(await findQuestion(runtime, 'q_01h000000000000a')).toBe(asked[0])
  expect(await findQuestion(runtime, '0bbb')).toBe(asked[0])
})

test('what fits several is refused with the candidates, and what fits none with what to do', async () => {
  await expect(findQuestion(runtime, '0ddd')).rejects.toThrow(
    /^"0ddd" fits 2 questions; which one\?\n {2}q_\w+ {2}Which host\?\n/,
  )
  await expect(findQuestion(runtime, 'last')).rejects.toThrow('Task t_01h000000000000fff asks nothing at the moment.')
  await expect(findQuestion(runtime, 'q_zzzz')).rejects.toThrow('"pawl questions" lists them.')
})
