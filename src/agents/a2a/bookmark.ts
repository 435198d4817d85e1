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

const names = ['context', 'task', 'sent', 'live', 'said'] as const
