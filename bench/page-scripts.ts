/// <reference lib="dom" />
// What runs in the browser: each function stands for itself, because only its text goes there.

/** Before the page itself: presses keys as soon as a text is shown, and notes when the address answers them. */
export function untilInteractive({ text, keys, path }: { text: string; keys: readonly string[]; path: string }): void {
  const look = () => {
    if (!document.body?.textContent?.includes(text)) return requestAnimationFrame(look)
    for (const key of keys) window.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }))
    const answer = () => {
      if (location.pathname !== path) return requestAnimationFrame(answer)
      ;(globalThis as { answeredAt?: number }).answeredAt = performance.now()
      return 0
    }
    return answer()
  }
  if (location.pathname === '/') look()
}

/** Scrolls the timeline from its beginning by so many pixels in each frame, and tells the longest time between two frames. */
export async function scrollThrough({
  steps,
}: {
  steps: readonly { readonly px: number; readonly frames: number }[]
}): Promise<{ longest: number; frames: number; longTasks: number }> {
  const box = document.querySelector('[role=log]')
  if (!box) throw new Error('There is no timeline.')
  let longTasks = 0
  const observer = new PerformanceObserver((list) => {
    longTasks += list.getEntries().length
  })
  observer.observe({ type: 'longtask' })
  const frame = () => new Promise<number>((done) => requestAnimationFrame(done))
  box.scrollTop = 0
  // What the jump to the beginning costs is no part of the scroll.
  for (let n = 0; n < 10; n++) await frame()
  let before = await frame()
  let longest = 0
  let frames = 0
  for (const step of steps) {
    for (let n = 0; n < step.frames; n++) {
      box.scrollTop += step.px
      const now = await frame()
      longest = Math.max(longest, now - before)
      before = now
      frames++
    }
  }
  observer.disconnect()
  return { longest, frames, longTasks }
}
