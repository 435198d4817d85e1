import type { SessionUpdate } from '@agentclientprotocol/sdk'
import type { Event } from '../../domain/event/event.ts'
import type { TaskView } from '../../domain/view/view.ts'
import { hasAnswer } from './ending.ts'
import type { AcpHome } from './home.ts'
import { questionInWords } from './questions.ts'
import { createTeller, type Teller } from './teller.ts'

/** A task as far as it was told. */
export interface Told {
  readonly task: TaskView
  readonly teller: Teller
  /** The number of the last event that was told. */
  readonly after: number
}

const pageSize = 500

/** Tells a conversation from its beginning, in its order; answers the last task of it. */
export async function replay(options: {
  home: AcpHome
  session: string
  folder: string
  send: (update: SessionUpdate) => void
  settled: () => Promise<void>
}): Promise<Told | undefined> {
  const { home, session, folder, send, settled } = options
  let last: Told | undefined
  for (const id of await tasksOf(home, session)) {
    const task = await home.use((runtime) => runtime.getTask(id))
    send(said('user', task.prompt, `${id}-prompt`))
    // Notices are about the moment.
    const teller = createTeller({ task: id, folder, shows: { notices: false }, send })
    let after = 0
    for (;;) {
      const events = await home.use((runtime) => runtime.readEvents(id, { after, limit: pageSize }))
      for (const event of events) {
        teller.event(event)
        for (const update of conversed(event, task)) send(update)
        await settled()
      }
      after = events.at(-1)?.seq ?? after
      if (events.length < pageSize) break
    }
    if (hasAnswer(task)) teller.result(task.result.text)
    last = { task, teller, after }
  }
  return last
}

/** Oldest first. */
async function tasksOf(home: AcpHome, session: string): Promise<string[]> {
  const ids: string[] = []
  for (let cursor: string | undefined; ; ) {
    const at = cursor
    const { items, next } = await home.use((runtime) => runtime.listTasks({ session, limit: 200, cursor: at }))
    ids.push(...items.map(({ id }) => id))
    if (next === null) return ids.reverse()
    cursor = next
  }
}

/** What was asked and answered in words is part of the conversation; one that is still open is asked again by whoever goes on. */
function conversed(event: Event, task: TaskView): SessionUpdate[] {
  if (event.type === 'question.asked' && event.data.kind !== 'permission') {
    const isOpen = task.questions.some(({ id, state }) => id === event.data.questionId && state === 'pending')
    return isOpen ? [] : [said('agent', questionInWords(event.data), event.data.questionId)]
  }
  if (event.type === 'question.answered') {
    const isFree = task.questions.some(({ id, kind }) => id === event.data.questionId && kind !== 'permission')
    return isFree ? [said('user', event.data.answer, `${event.data.questionId}-answer`)] : []
  }
  return []
}

const said = (who: 'user' | 'agent', text: string, messageId: string): SessionUpdate => ({
  sessionUpdate: `${who}_message_chunk`,
  content: { type: 'text', text },
  messageId,
})
