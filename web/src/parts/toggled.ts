import { useCallback, useState } from 'react'

/** Numbers that are switched on and off. */
export function useToggled(): [ReadonlySet<number>, (one: number) => void] {
  const [on, setOn] = useState<ReadonlySet<number>>(new Set())
  const toggle = useCallback(
    (one: number) =>
      setOn((before) => {
        const after = new Set(before)
        if (!after.delete(one)) after.add(one)
        return after
      }),
    [],
  )
  return [on, toggle]
}
