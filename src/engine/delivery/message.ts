import { visible } from '../../domain/base/visible.ts'
import type { Notifiable } from '../../domain/notification/notification.ts'
import type { OutboxBody, OutboxRow } from '../../store/tables.ts'

/** What somebody outside is told: the body of a webhook, and what a command reads from its standard input. */
export interface Message extends Omit<OutboxBody, 'traced'> {
  readonly id: string
  readonly type: Notifiable
  /** When it happened. */
  readonly timestamp: string
  /** A sentence for people, drawn by programs that make nothing visible themselves. */
  readonly text: string
  readonly run: string | null
}

export function messageOf({ id, event, created_at, body: { traced: _, ...body }, run_id }: OutboxRow): Message {
  return { id, type: event, timestamp: created_at.toISOString(), text: visible(sentence(event, body)), run: run_id, ...body }
}

const shortest = 200

function sentence(type: Notifiable, { task, data, question }: Omit<OutboxBody, 'traced'>): string {
  const named = `Task ${task.name === null ? task.id : `${task.name} (${task.id})`}`
  if (type === 'task.blocked' && question) return `${named} asks${said(question.text)}`
  return `${named} ${whatHappened[type](data)}`
}

const whatHappened: Record<Notifiable, (data: Record<string, unknown>) => string> = {
  'task.blocked': ({ kind, detail }) => `waits for something only others can give${said(detail ?? kind)}.`,
  'task.failed': ({ category, message }) => `failed${said(category)}${said(message)}.`,
  'task.completed': ({ verified, outcome }) =>
    `is completed${short(outcome)}${verified === true ? ', and its checks passed' : ''}.`,
  'task.parked': ({ kind, until }) =>
    `waits${said(kind)} and goes on by itself${typeof until === 'string' ? ` at ${until}` : ''}.`,
  'task.timed_out': ({ message }) => `ran out of time${said(message)}.`,
  'task.over_budget': ({ message }) => `has used up its budget${said(message)}.`,
  'task.cancelled': ({ by }) => `was cancelled${typeof by === 'string' ? ` by ${cut(by)}` : ''}.`,
  'task.review': ({ outcome }) =>
    outcome === undefined ? 'is done and waits to be accepted.' : `waits to be accepted${short(outcome)}.`,
  'question.asked': ({ text }) => `asks${said(text)}`,
  'question.escalated': ({ text }) => `asks, and nobody has answered${said(text)}`,
  'task.requeued': () => 'goes on: the usage limit that it waited for is over.',
}

const short = (outcome: unknown) =>
  outcome === 'partial' ? ', but only a part of the work was done' : outcome === 'empty' ? ', but the agent said nothing' : ''
const said = (text: unknown) => (typeof text === 'string' && text !== '' ? `: ${cut(text)}` : '')
const cut = (text: string) => {
  const line = text.replaceAll(/\s+/g, ' ').trim().replace(/[.]$/, '')
  return line.length > shortest ? `${line.slice(0, shortest).toWellFormed()}…` : line
}
