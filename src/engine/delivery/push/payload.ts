import { isolated, visible } from '../../../domain/base/visible.ts'
import type { PushEvent, PushPayload } from '../../../domain/notification/push.ts'
import type { Message } from '../message.ts'

const longest = { title: 80, body: 300 }

/** Small, and nothing in it that its user could not read on the page. */
export function payloadOf(
  { id, type, task, text, data, question }: Message,
  { seesDetail }: { seesDetail: boolean },
): PushPayload {
  const name = task.name ?? task.id
  const asked = question?.text ?? data.text
  const trouble = type === 'task.failed' || type === 'task.timed_out' || type === 'task.over_budget'
  const detail = seesDetail && trouble ? data.message : undefined
  return {
    title: cut(titles[type as PushEvent]?.(name, data) ?? name, longest.title),
    body: cut(
      typeof asked === 'string' ? asked : typeof detail === 'string' ? detail : trouble ? `Look at ${task.id}.` : text,
      longest.body,
    ),
    tag: question?.id ?? (data.test ? id : task.id),
    path: data.test ? '/inbox' : `/tasks/${task.id}`,
  }
}

const titles: Record<PushEvent, (name: string, data: Message['data']) => string> = {
  'question.asked': (name) => `${name} asks`,
  'question.escalated': (name) => `${name} asks again`,
  'task.review': (name) => `${name} waits to be accepted`,
  'task.failed': (name) => `${name} failed`,
  'task.timed_out': (name) => `${name} ran out of time`,
  'task.over_budget': (name) => `${name} has used up its budget`,
  'task.requeued': (name) => `${name} goes on`,
  'task.completed': (name, { outcome }) => `${name} is completed${typeof outcome === 'string' ? ` (${outcome})` : ''}`,
}

/** Drawn by the system, which makes nothing visible itself. */
const cut = (text: string, most: number) => {
  const line = isolated(visible(text)).replaceAll(/\s+/g, ' ').trim()
  return line.length > most ? `${line.slice(0, most - 1).toWellFormed()}…` : line
}
