import { useEffect, useMemo, useState } from 'react'
import type { Item } from '../data/timeline.ts'
import { textOf } from '../data/timeline-rows.ts'

/** So long may the page be kept from drawing. */
const sliceMs = 6

export interface Found {
  /** Places among the rows, from above. */
  readonly places: readonly number[]
  readonly isSearching: boolean
}

/** Where a text stands, searched in slices between which the page draws; what was looked at stays known while more comes. */
export function useFound(rows: readonly Item[], text: string): Found {
  const wanted = text.trim().toLowerCase()
  const [found, setFound] = useState<Found>({ places: [], isSearching: false })
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is known is known of one text
  const known = useMemo(() => new WeakMap<Item, boolean>(), [wanted])
  useEffect(() => {
    if (wanted === '') return setFound({ places: [], isSearching: false })
    const places: number[] = []
    let at = 0
    let timer: ReturnType<typeof setTimeout>
    const search = () => {
      const until = performance.now() + sliceMs
      for (; at < rows.length && (at % 64 !== 0 || performance.now() < until); at++) {
        const row = rows[at]!
        let isHit = known.get(row)
        if (isHit === undefined) {
          isHit = textOf(row).toLowerCase().includes(wanted)
          known.set(row, isHit)
        }
        if (isHit) places.push(at)
      }
      if (at >= rows.length) return setFound({ places, isSearching: false })
      timer = setTimeout(search)
    }
    setFound((before) => ({ ...before, isSearching: true }))
    timer = setTimeout(search)
    return () => clearTimeout(timer)
  }, [rows, wanted, known])
  return found
}
