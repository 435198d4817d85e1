import { onlineManager, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState, useSyncExternalStore } from 'react'
import { asked } from './asked.ts'
import { followChanges } from './changes.ts'
import { refresher } from './refresher.ts'

export type ConnectionState = 'connecting' | 'live' | 'reconnecting' | 'offline'

/** Keeps what is shown true: whatever changes at the daemon is asked for anew, soon and not too often. */
export function useLive(): ConnectionState {
  const client = useQueryClient()
  const [state, setState] = useState<'connecting' | 'live' | 'away'>('connecting')
  const isOnline = useSyncExternalStore(
    (tell) => onlineManager.subscribe(tell),
    () => onlineManager.isOnline(),
  )
  useEffect(() => {
    const ended = new AbortController()
    void followChanges({
      signal: ended.signal,
      onChange: refresher(() => client.invalidateQueries({ queryKey: ['tasks'] }), ended.signal),
      onState(now) {
        setState(now)
        // Nobody knows what happened meanwhile.
        if (now === 'live') void client.invalidateQueries()
      },
      onDenied: () => void client.invalidateQueries({ queryKey: asked.me.queryKey }),
    })
    return () => ended.abort()
  }, [client])
  // A daemon on this very machine is there without any network: only what does not answer is blamed on it.
  return state !== 'away' ? state : isOnline ? 'reconnecting' : 'offline'
}
