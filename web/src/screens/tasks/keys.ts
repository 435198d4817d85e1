import { type RefObject, useRef } from 'react'
import { useKeys } from '../../app/keys.ts'
import type { LaneHandle } from './lane.tsx'
import type { Selection } from './selection.ts'

/** Up and down, from lane to lane, and choosing, as far as the focus is on a task or on nothing. Enter opens it, as any link. */
export function useLaneKeys(lanes: RefObject<(LaneHandle | null)[]>, selection: Selection): void {
  // The focus comes a moment after a row that had to be scrolled to; the next key may be quicker.
  const last = useRef<string>(undefined)
  const place = () => {
    const id = document.activeElement?.closest('[data-task]')?.getAttribute('data-task') ?? last.current
    for (const [lane, handle] of lanes.current.entries()) {
      const row = handle?.tasks.findIndex((task) => task.id === id) ?? -1
      if (row !== -1) return { lane, row }
    }
    return undefined
  }
  const move = (by: number) => (event: KeyboardEvent) => {
    const from = place()
    const lane = from?.lane ?? lanes.current.findIndex((handle) => handle && handle.tasks.length > 0)
    const handle = lanes.current[lane]
    if (!handle) return
    const row = from ? Math.min(Math.max(from.row + by, 0), handle.tasks.length - 1) : 0
    const to = handle.tasks[row]
    if (event.shiftKey && from && to) {
      selection.extend(to, handle.tasks, handle.tasks[from.row])
    }
    last.current = to?.id
    handle.focus(row)
  }
  const across = (by: number) => () => {
    const from = place()
    if (!from) return
    for (let lane = from.lane + by; lane >= 0 && lane < lanes.current.length; lane += by) {
      const handle = lanes.current[lane]
      if (!handle || handle.tasks.length === 0) continue
      const row = Math.min(from.row, handle.tasks.length - 1)
      last.current = handle.tasks[row]?.id
      handle.focus(row)
      return
    }
  }
  const toggle = () => {
    const from = place()
    const task = from && lanes.current[from.lane]?.tasks[from.row]
    if (task) selection.toggle(task)
  }
  useKeys({
    ...{ j: move(1), J: move(1), ArrowDown: move(1), k: move(-1), K: move(-1), ArrowUp: move(-1) },
    ...{ h: across(-1), ArrowLeft: across(-1), l: across(1), ArrowRight: across(1) },
    ...{ x: toggle, Escape: selection.clear },
  })
}
