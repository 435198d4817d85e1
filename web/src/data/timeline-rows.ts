import { renderEvent, toneOf } from '../../../src/cli/text/render.ts'
import type { Event } from '../../../src/domain/event/event.ts'
import type { Item } from './timeline.ts'

export const filters = ['all', 'messages', 'tools', 'problems'] as const
export type Filter = (typeof filters)[number]

/** What is shown, in its order: what a subagent did stands below the call that started it, unless that is folded. */
export function rowsOf(items: readonly Item[], filter: Filter, folded: ReadonlySet<number>): readonly Item[] {
  const wanted = filter === 'all' ? items : items.filter(belongs[filter])
  return arranged(wanted, folded)
}

function arranged(items: readonly Item[], folded: ReadonlySet<number>): readonly Item[] {
  if (!items.some((item) => item.kind === 'tool' && item.within !== undefined)) return items
  const below = new Map<number, Item[]>()
  const shown = new Set<number>()
  for (const item of items) {
    shown.add(item.event.seq)
    if (item.kind !== 'tool' || item.within === undefined || !shown.has(item.within)) continue
    const siblings = below.get(item.within)
    if (siblings) siblings.push(item)
    else below.set(item.within, [item])
  }
  const rows: Item[] = []
  const put = (item: Item) => {
    rows.push(item)
    if (!folded.has(item.event.seq)) for (const step of below.get(item.event.seq) ?? []) put(step)
  }
  for (const item of items) if (item.kind === 'event' || item.within === undefined || !shown.has(item.within)) put(item)
  return rows
}

const said = new Set<Event['type']>([
  'agent.message',
  'message.sent',
  'question.asked',
  'question.answered',
  'question.escalated',
  'task.review',
])

const belongs: Record<Exclude<Filter, 'all'>, (item: Item) => boolean> = {
  messages: ({ event }) => said.has(event.type) || (event.type === 'task.requeued' && event.data.why === 'rejected'),
  tools: (item) => item.kind === 'tool' || item.event.type === 'permission.decided',
  problems: isProblem,
}

const troubles = new Set<Event['type']>([
  'agent.retrying',
  'agent.stderr',
  'agent.unknown',
  'model.called',
  'session.rebuilt',
  'session.reset',
  'task.parked',
  'task.cancel_requested',
  'task.cancelled',
  'workspace.quarantined',
  'workspace.flagged',
  'question.escalated',
])
/** Notes that every run in a copy, or in a repository with instructions, has. */
const usual = new Set(['repository', 'workspace_copy', 'workspace_cost'])
const expected = new Set(['answer', 'again', 'subtasks', 'dependencies', 'wake'])

/** Whatever somebody looks for who asks why it went wrong. */
export function isProblem(item: Item): boolean {
  if (item.kind === 'tool') return item.returned?.data.isError ?? false
  const { event } = item
  switch (event.type) {
    case 'permission.decided':
      return event.data.verdict === 'denied'
    case 'network.decided':
      return event.data.verdict !== 'allow'
    case 'task.requeued':
      return !expected.has(event.data.why)
    case 'run.noted':
      return !usual.has(event.data.code)
    case 'subtask.ended':
      return event.data.state !== 'completed'
    case 'hook.ran':
      return event.data.failure !== undefined
    default:
      return troubles.has(event.type) || toneOf(event) === 'bad'
  }
}

/** All that can be found of an item. */
export function textOf(item: Item): string {
  if (item.kind === 'event') return renderEvent(item.event)
  const { tool, input } = item.event.data
  return `${tool} ${typeof input === 'string' ? input : JSON.stringify(input)} ${item.returned?.data.output ?? ''}`
}
