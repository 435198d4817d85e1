import { type RefObject, useEffect, useRef } from 'react'

const nearPx = 160

/**
 * Keeps what somebody reads where it is, whatever comes above or below it: the end while that is in sight, otherwise the turn at the top of the window.
 * `list` is what grows, `end` what stands behind it.
 */
export function useKeptPlace(list: RefObject<HTMLElement | null>, end: RefObject<HTMLElement | null>, follows: string): void {
  const isNear = useRef(true)
  useEffect(() => {
    const box = list.current
    if (!box) return
    let read: { readonly turn: Element; readonly top: number } | undefined
    const onScroll = () => {
      const { scrollHeight, scrollTop, clientHeight } = document.documentElement
      isNear.current = scrollHeight - scrollTop - clientHeight < nearPx
      const turn = [...box.querySelectorAll(':scope > article')].find((one) => one.getBoundingClientRect().bottom > 0)
      read = turn && { turn, top: turn.getBoundingClientRect().top }
    }
    const onResize = () => {
      if (isNear.current) end.current?.scrollIntoView({ block: 'end' })
      else if (read?.turn.isConnected) window.scrollBy(0, read.turn.getBoundingClientRect().top - read.top)
    }
    window.addEventListener('scroll', onScroll, { passive: true })
    const changed = new ResizeObserver(onResize)
    changed.observe(box)
    return () => {
      window.removeEventListener('scroll', onScroll)
      changed.disconnect()
    }
  }, [list, end])
  // biome-ignore lint/correctness/useExhaustiveDependencies: whatever comes moves the end
  useEffect(() => {
    if (isNear.current) end.current?.scrollIntoView({ block: 'end' })
  }, [follows])
}
