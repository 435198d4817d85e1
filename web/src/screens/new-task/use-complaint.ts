import { useEffect, useState } from 'react'
import { messageOf } from '../../../../src/domain/error.ts'
import { pawl } from '../../data/pawl.ts'
import { faultIn, requested, type Written } from './written.ts'

/** What the daemon would refuse of it, asked a moment after the last stroke: it knows the same rules, and the agents and folders besides. */
export function useComplaint(written: Written): string | undefined {
  const [complaint, setComplaint] = useState<string>()
  useEffect(() => {
    const fault = faultIn(written)
    if (fault !== undefined || written.prompt.trim() === '') return setComplaint(fault)
    let isOld = false
    const timer = setTimeout(() => {
      pawl.checkTask(requested(written)).then(
        () => isOld || setComplaint(undefined),
        (error: unknown) => isOld || setComplaint(messageOf(error)),
      )
    }, 400)
    return () => {
      isOld = true
      clearTimeout(timer)
    }
  }, [written])
  return complaint
}
