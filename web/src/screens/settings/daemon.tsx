import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { messageOf } from '../../../../src/domain/error.ts'
import { asked } from '../../data/asked.ts'
import { pawl } from '../../data/pawl.ts'
import { Shown } from '../../parts/states.tsx'
import { Ago } from '../../parts/time.tsx'

/** The daemon itself, and the switch that stops every agent. */
export function Daemon() {
  const health = useQuery(asked.health)
  const [isSure, setSure] = useState(false)
  const stop = useMutation({ mutationFn: () => pawl.stopAll({ reason: 'from the page' }), onSuccess: () => setSure(false) })
  const goOn = useMutation({ mutationFn: () => pawl.resume() })
  const failed = [stop, goOn].find(({ isError }) => isError)
  return (
    <section className="card stack" aria-labelledby="daemon">
      <h2 id="daemon">Daemon</h2>
      <Shown asked={health}>
        {({ version, home, startedAt, database, halt }) => (
          <>
            <div className="row faint">
              <span>Pawl {version}</span>
              <span>
                running for <Ago at={startedAt} />
              </span>
              <code>{home}</code>
              <span>
                PostgreSQL {database.version}
                {database.kind === 'embedded' ? ', its own' : ''}
              </span>
            </div>
            <div className="row">
              {halt ? (
                <button type="button" className="primary" disabled={goOn.isPending} onClick={() => goOn.mutate()}>
                  Let agents go on
                </button>
              ) : isSure ? (
                <>
                  <span>Every running agent is stopped, and none starts until you let them go on.</span>
                  <button type="button" className="danger" disabled={stop.isPending} onClick={() => stop.mutate()}>
                    Stop them
                  </button>
                  <button type="button" onClick={() => setSure(false)}>
                    Let them be
                  </button>
                </>
              ) : (
                <button type="button" onClick={() => setSure(true)}>
                  Stop all agents
                </button>
              )}
              {failed && <span role="alert">{messageOf(failed.error)}</span>}
            </div>
          </>
        )}
      </Shown>
      <p>
        <button type="button" onClick={() => void signOut()}>
          Sign this browser out
        </button>
      </p>
    </section>
  )
}

async function signOut(): Promise<void> {
  await fetch('/sign-out', { method: 'POST' })
  location.assign('/')
}
