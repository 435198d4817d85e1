import { useEffect, useSyncExternalStore } from 'react'
import type { ConnectionState } from '../../data/live.ts'
import { keepPage, newerPage } from './register.ts'

/** Says that the daemon has a newer page than the one that is open, after it was upgraded. */
export function NewerPage({ connection }: { connection: ConnectionState }) {
  const isNewer = useSyncExternalStore(newerPage.subscribe, newerPage.isThere)
  // Each time the daemon is back it may be another one.
  useEffect(() => {
    if (connection === 'live') void keepPage().then((registration) => registration?.update().catch(() => undefined))
  }, [connection])
  if (!isNewer) return null
  return (
    <button type="button" title="Pawl was upgraded; this page is older." onClick={() => location.reload()}>
      Load the new page
    </button>
  )
}
