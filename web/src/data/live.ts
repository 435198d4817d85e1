import { onlineManager, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState, useSyncExternalStore } from 'react'
import { followChanges } from './changes.ts'

export type ConnectionState = 'live' | 'reconnecting' | 'offline'

/** Keeps what is shown true: whatever changes at the daemon is asked for anew, at most a few times a second. */
export function useLive(): ConnectionState {
  const client = useQueryClient()
  const [isAway, setAway] = useState(false)
  const isOnline = useSyncExternalStore(
    (tell) => onlineManager.subscribe(tell),
    () => onlineManager.isOnline(),
  )
  useEffect(() => {
    const ended = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    const refresh = () => {
      timer ??= setTimeout(() => {
        timer = undefined
        void client.invalidateQueries({ queryKey: ['tasks'] })
      }, 250)
    }
    void followChanges({
      signal: ended.signal,
      onChange: refresh,
      onState(state) {
        setAway(state === 'away')
        // Nobody knows what happened meanwhile.
        if (state === 'live') void client.invalidateQueries()
      },
    })
    return () => {
      ended.abort()
      clearTimeout(timer)
    }
  }, [client])
  return isOnline ? (isAway ? 'reconnecting' : 'live') : 'offline'
}
