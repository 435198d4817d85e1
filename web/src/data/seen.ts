/**
 * Does something for as long as somebody can see this page, and anew whenever it is seen again. A browser has six connections to one address, over all its tabs: if
 * each tab in the background kept its streams, a few of them would leave none for anything else. Nor does a page that nobody sees attend a task.
 */
export async function whileSeen(signal: AbortSignal, act: (signal: AbortSignal) => Promise<void>): Promise<void> {
  while (!signal.aborted) {
    await untilSeen(signal)
    if (signal.aborted) return
    const unseen = new AbortController()
    const onChange = () => {
      if (!isSeen()) unseen.abort()
    }
    document.addEventListener('visibilitychange', onChange)
    try {
      await act(AbortSignal.any([signal, unseen.signal]))
    } finally {
      document.removeEventListener('visibilitychange', onChange)
    }
    if (!unseen.signal.aborted) return
  }
}

const isSeen = () => document.visibilityState === 'visible'

const untilSeen = (signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    const done = () => {
      if (!isSeen() && !signal.aborted) return
      document.removeEventListener('visibilitychange', done)
      signal.removeEventListener('abort', done)
      resolve()
    }
    document.addEventListener('visibilitychange', done)
    signal.addEventListener('abort', done)
    done()
  })
