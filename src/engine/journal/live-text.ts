import type { Growing, Voice } from '../../domain/event/live-text.ts'
import type { Redactor } from '../../redact/redactor.ts'
import { settledLength } from '../../redact/settled.ts'

/**
 * What agents are saying just now, for those who watch in this process. Nothing of it is stored, and nobody waits for it: whoever comes late or misses a step
 * sees the next one, and the whole comes as an event.
 */
export interface Growths {
  /** For the run that has the task now. */
  begin(task: string, run: string, show?: (<T>(value: T) => T) | undefined): Growth
  /** Tells what is being said, at most ten times a second, and that nothing is. */
  watch(task: string, tell: (growing: Growing | undefined) => void): () => void
}

export interface Growth {
  add(kind: Voice, piece: string): void
  /** It was said to its end, or something else came. */
  whole(): void
  end(): void
}

const shortestGapMs = 100
/** What is longer stands still until it is whole. */
const mostChars = 65_536

interface State {
  readonly run: string
  readonly show: (<T>(value: T) => T) | undefined
  n: number
  kind: Voice
  text: string
}

export function createGrowths({ redactor }: { readonly redactor: Pick<Redactor, 'stream' | 'text'> }): Growths {
  const states = new Map<string, State>()
  const watchers = new Map<string, Set<(growing: Growing | undefined) => void>>()
  const timers = new Map<string, NodeJS.Timeout>()

  const shownOf = (task: string): Growing | undefined => {
    const state = states.get(task)
    if (!state || state.text === '') return undefined
    const { run, n, kind, show } = state
    // What may be the beginning of a secret waits for its rest; one stream for all of it, so that none can hide between two pieces.
    const said = Buffer.concat(redactor.stream().write(Buffer.from(state.text))).toString()
    const text = redactor.text(said.slice(0, settledLength(said)))
    return text.trim() === '' ? undefined : { run, n, kind, text: show ? show(text) : text }
  }
  const tellAll = (task: string) => {
    timers.delete(task)
    const growing = shownOf(task)
    for (const tell of watchers.get(task) ?? []) tell(growing)
  }
  const soon = (task: string) => {
    if (watchers.has(task) && !timers.has(task)) timers.set(task, setTimeout(() => tellAll(task), shortestGapMs).unref())
  }

  return {
    begin(task, run, show) {
      const state: State = { run, show, n: 0, kind: 'message', text: '' }
      states.set(task, state)
      const isOurs = () => states.get(task) === state
      const clear = () => {
        if (state.text === '') return
        state.n++
        state.text = ''
        if (isOurs()) soon(task)
      }
      return {
        add(kind, piece) {
          if (kind !== state.kind) clear()
          state.kind = kind
          if (state.text.length >= mostChars) return
          state.text += piece.slice(0, mostChars - state.text.length)
          if (isOurs()) soon(task)
        },
        whole: clear,
        end() {
          clear()
          if (isOurs()) states.delete(task)
        },
      }
    },
    watch(task, tell) {
      const set = watchers.get(task) ?? new Set()
      watchers.set(task, set.add(tell))
      const growing = shownOf(task)
      if (growing) tell(growing)
      return () => {
        set.delete(tell)
        if (set.size > 0 || watchers.get(task) !== set) return
        watchers.delete(task)
        clearTimeout(timers.get(task))
        timers.delete(task)
      }
    },
  }
}
