import { type RefObject, useCallback, useEffect, useLayoutEffect, useMemo, useReducer, useRef } from 'react'
import { flushSync } from 'react-dom'
import { Heights } from './timeline-heights.ts'

const guessPx = 32
/** So much is drawn beyond what is seen, above and below. */
const aroundPx = 240
/** Closer to the end than this counts as following it. */
const nearPx = 60

export interface Window {
  /** The rows that are drawn, the last one excluded. */
  readonly first: number
  readonly last: number
  readonly box: RefObject<HTMLDivElement | null>
  /** As high as all rows together. */
  readonly all: RefObject<HTMLDivElement | null>
  /** Holds the rows that are drawn, one element each. */
  readonly drawn: RefObject<HTMLDivElement | null>
  /** The number of the row at the top; undefined while the end is followed. */
  reading(): number | undefined
  show(index: number): void
  toEnd(): void
}

/** What stays in its place while rows above it come, go, or turn out higher than thought. */
interface Anchor {
  readonly key: number
  /** From the top of the row to the top of what is seen. */
  readonly offset: number
}

/**
 * Draws only those rows that are in sight, in a box that scrolls. It follows the end while that is in sight, and otherwise keeps what somebody reads where it is.
 * `keys` names each row by a number of its own. `onFollows` is told when the end is left or reached.
 */
export function useWindow(keys: readonly number[], startAt: number | undefined, onFollows: (follows: boolean) => void): Window {
  const box = useRef<HTMLDivElement>(null)
  const all = useRef<HTMLDivElement>(null)
  const drawn = useRef<HTMLDivElement>(null)
  const heights = useMemo(() => new Heights(guessPx), [])
  heights.take(keys)
  const anchor = useRef<Anchor | undefined>(startAt === undefined ? undefined : { key: startAt, offset: 0 })
  const viewPx = useRef(600)
  const [, redraw] = useReducer((n: number) => n + 1, 0)

  const topOf = () => {
    const most = Math.max(0, heights.total - viewPx.current)
    if (!anchor.current) return most
    return Math.min(most, Math.max(0, heights.before(placeOf(keys, anchor.current.key)) + anchor.current.offset))
  }
  const top = topOf()
  const first = heights.rowAt(top - aroundPx)
  const last = keys.length === 0 ? 0 : heights.rowAt(top + viewPx.current + aroundPx) + 1

  /** Measures what is drawn and puts everything where it belongs. What is not covered by that is drawn next. */
  const settle = () => {
    const [outer, inner, whole] = [box.current, drawn.current, all.current]
    // Where it is hidden, nothing can be measured and nothing moves.
    if (!outer || !inner || !whole || outer.offsetParent === null) return
    for (let i = 0; i < inner.children.length; i++) heights.see(first + i, inner.children[i]!.getBoundingClientRect().height)
    whole.style.height = `${heights.total}px`
    inner.style.transform = `translateY(${heights.before(first)}px)`
    // The box grows with its rows up to a bound.
    viewPx.current = outer.clientHeight
    const wanted = topOf()
    if (Math.abs(outer.scrollTop - wanted) > 1) outer.scrollTop = wanted
    if (!covers(wanted)) redraw()
  }
  const covers = (place: number) =>
    (first === 0 || heights.before(first) <= place) && (last >= keys.length || heights.before(last) >= place + viewPx.current)

  const scrolled = () => {
    const { scrollTop, offsetParent } = box.current!
    if (offsetParent === null) return
    // The browser tells of our own steps too, and of those that it makes where the end came nearer.
    if (Math.abs(scrollTop - topOf()) <= 1.5) return
    const wasFollowing = anchor.current === undefined
    const isEnd = heights.total - scrollTop - viewPx.current < nearPx
    const index = heights.rowAt(scrollTop)
    anchor.current = isEnd ? undefined : { key: keys[index]!, offset: scrollTop - heights.before(index) }
    if (wasFollowing !== isEnd) onFollows(isEnd)
    // Before the next frame: what is scrolled to is there when it is seen.
    if (!covers(scrollTop)) flushSync(redraw)
  }

  const current = useRef({ settle, scrolled })
  current.current = { settle, scrolled }
  useLayoutEffect(settle)
  useEffect(() => {
    const outer = box.current!
    const onScroll = () => current.current.scrolled()
    const resized = new ResizeObserver(() => current.current.settle())
    outer.addEventListener('scroll', onScroll, { passive: true })
    for (const one of [outer, drawn.current!]) resized.observe(one)
    return () => {
      outer.removeEventListener('scroll', onScroll)
      resized.disconnect()
    }
  }, [])

  const reading = useCallback(() => anchor.current?.key, [])
  return {
    ...{ first, last, box, all, drawn, reading },
    show(index) {
      anchor.current = { key: keys[index]!, offset: -viewPx.current / 3 }
      onFollows(false)
      redraw()
    },
    toEnd() {
      anchor.current = undefined
      onFollows(true)
      redraw()
    },
  }
}

/** Where a row stands; where it has gone, the one that came after it. */
function placeOf(keys: readonly number[], key: number): number {
  const index = keys.indexOf(key)
  if (index !== -1) return index
  const next = keys.findIndex((one) => one > key)
  return next === -1 ? keys.length - 1 : next
}
