import { PawlError } from '../../src/domain/error.ts'
import type { TaskView } from '../../src/domain/view/view.ts'
import type { CrashHome } from './home.ts'
import type { Kind } from './scenario.ts'

export const commentOf = (tag: string) => `greener, for ${tag}`

/** A person who looks at work: rejects it the first time where that is played, and accepts it otherwise. Remembers only what was confirmed, or refused because it was stored. */
export function reviewer(home: CrashHome, { kind, tag }: { kind: Kind; tag: string }) {
  let hasRejected = kind !== 'reject'
  return async (task: TaskView): Promise<void> => {
    if (task.state !== 'review') return
    if (hasRejected) return settled(home.ask((client) => client.acceptTask(task.id)))
    await settled(home.ask((client) => client.rejectTask(task.id, { comment: commentOf(tag) })))
    hasRejected = true
  }
}

async function settled(deciding: Promise<unknown>): Promise<void> {
  await deciding.catch((error: unknown) => {
    if (!(error instanceof PawlError) || error.code !== 'conflict') throw error
  })
}

/** What a client can see of a task that was split or reviewed: each part was made once and done, and the agent heard of it. */
export function wrongWithParts(task: TaskView, { kind, tag }: { kind: Kind; tag: string }): string[] {
  const text = task.result?.text ?? ''
  if (kind === 'reject') return text.includes(commentOf(tag)) ? [] : [`C1: the agent did not hear the comment; it said ${text}`]
  if (kind !== 'split' && kind !== 'split-review') return []
  const parts = task.subtasks.map(({ name, state }) => `${name} ${state}`)
  const wrong = parts.join() === 'part 1 completed,part 2 completed' ? [] : [`C3: its subtasks are ${parts.join()}`]
  if (kind === 'split' && text.trim() !== 'heard: part 1\nheard: part 2')
    wrong.push(`C1: the agent heard of its subtasks: ${text}`)
  return wrong
}
