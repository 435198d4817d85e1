import { useEffect, useRef, useState, useSyncExternalStore } from 'react'
import { pause } from '../../../src/client/transport/follow.ts'
import { messageOf, PawlError } from '../../../src/domain/error.ts'
import type { NewTask, TaskView } from '../../../src/domain/view/view.ts'
import { pawl } from './pawl.ts'
import { queries } from './queries.ts'

/** A message that was sent and is not known to have arrived. */
export interface Outgoing {
  /** The same however often it is sent, so that it counts once. */
  readonly key: string
  readonly task: NewTask
  /** Why it was refused; it is not sent again by itself. */
  readonly refused?: string | undefined
}

/**
 * Messages of a conversation on their way, one after the other. Each is kept by the browser until the daemon has acknowledged it: neither a daemon that is away nor
 * a page that is closed loses one.
 */
export function useOutgoing(conversation: string, onArrived: (task: TaskView) => void) {
  const list = useKept(conversation)
  const told = useRef(onArrived)
  told.current = onArrived
  // A message is one for as long as its key is the same.
  const next = list.find(({ refused }) => refused === undefined)?.key
  const [isAway, setAway] = useState(false)
  useEffect(() => {
    const first = kept(conversation).find(({ key }) => key === next)
    if (!first) return
    const ended = new AbortController()
    void deliver(first, ended.signal, setAway).then(
      (task) => {
        if (!task) return
        change(conversation, (all) => all.filter(({ key }) => key !== first.key))
        void queries.invalidateQueries({ queryKey: ['tasks'] })
        told.current(task)
      },
      (error: unknown) =>
        change(conversation, (all) => all.map((one) => (one.key === first.key ? { ...one, refused: messageOf(error) } : one))),
    )
    return () => ended.abort()
  }, [next, conversation])
  return {
    list,
    isAway,
    send: (task: NewTask) => change(conversation, (all) => [...all, { key: crypto.randomUUID(), task }]),
    sendAgain: (key: string) =>
      change(conversation, (all) => all.map((one) => (one.key === key ? { key: crypto.randomUUID(), task: one.task } : one))),
    forget: (key: string) => change(conversation, (all) => all.filter((one) => one.key !== key)),
  }
}

async function deliver(
  { key, task }: Outgoing,
  signal: AbortSignal,
  onAway: (isAway: boolean) => void,
): Promise<TaskView | undefined> {
  for (let delayMs = 500; !signal.aborted; delayMs = Math.min(delayMs * 2, 5_000)) {
    try {
      const { task: made } = await pawl.createTask(task, { idempotencyKey: key })
      onAway(false)
      return made
    } catch (error) {
      if (!(error instanceof PawlError && error.code === 'unavailable')) throw error
      if (!signal.aborted) onAway(true)
      await pause(delayMs, signal)
    }
  }
  return undefined
}

const place = (conversation: string) => `pawl-chat-${conversation}`
const listeners = new Set<() => void>()
const read = new Map<string, { readonly text: string | null; readonly list: readonly Outgoing[] }>()

function kept(conversation: string): readonly Outgoing[] {
  const text = localStorage.getItem(place(conversation))
  const before = read.get(conversation)
  if (before?.text === text) return before.list
  const list = parsed(text)
  read.set(conversation, { text, list })
  return list
}

function parsed(text: string | null): readonly Outgoing[] {
  try {
    const list: unknown = JSON.parse(text ?? '[]')
    return Array.isArray(list) ? (list as Outgoing[]) : []
  } catch (error) {
    if (error instanceof SyntaxError) return []
    throw error
  }
}

function change(conversation: string, to: (all: readonly Outgoing[]) => readonly Outgoing[]): void {
  const list = to(kept(conversation))
  if (list.length > 0) localStorage.setItem(place(conversation), JSON.stringify(list))
  else localStorage.removeItem(place(conversation))
  for (const tell of listeners) tell()
}

const useKept = (conversation: string) =>
  useSyncExternalStore(
    (tell) => {
      listeners.add(tell)
      window.addEventListener('storage', tell)
      return () => {
        listeners.delete(tell)
        window.removeEventListener('storage', tell)
      }
    },
    () => kept(conversation),
  )

/** What is being written and not sent yet, kept as well. */
export function useDraft(conversation: string): [string, (text: string) => void] {
  const at = `${place(conversation)}-draft`
  const [text, setText] = useState(() => localStorage.getItem(at) ?? '')
  return [
    text,
    (now) => {
      if (now === '') localStorage.removeItem(at)
      else localStorage.setItem(at, now)
      setText(now)
    },
  ]
}
