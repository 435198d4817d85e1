import type { Bookmark } from './program/settings.ts'

/** A bookmark as the id of a conversation: what the remote agent calls it and its last task, and what was asked there. Short, and readable. */
export function writeBookmark(mark: Bookmark): string {
  const fields = new URLSearchParams()
  for (const name of names) if (mark[name] !== undefined) fields.set(name, String(mark[name]))
  if (mark.over) fields.set('over', '1')
  return `a2a:${fields}`
}

/** Anything that is no bookmark is the beginning. */
export function readBookmark(text: string | undefined): Bookmark {
  if (!text?.startsWith('a2a:')) return {}
  const fields = new URLSearchParams(text.slice(4))
  const named = names.flatMap((name) => (fields.has(name) ? [[name, fields.get(name)] as const] : []))
  return { ...Object.fromEntries(named), ...(fields.get('over') === '1' ? { over: true } : {}) }
}

/** The bookmark under which a task of ours may still be worked on there. What was asked is named by the task, and by what has come to it since. */
export function leftElsewhere(vendorIds: readonly string[], task: string): string | undefined {
  const found = vendorIds.find((id) => {
    const { sent } = readBookmark(id)
    return sent === task || sent?.startsWith(`${task}.`)
  })
  const { task: remote, over } = readBookmark(found)
  return remote === undefined || over ? undefined : found
}

const names = ['context', 'task', 'sent', 'live', 'said'] as const
