import { useMutation, useQuery } from '@tanstack/react-query'
import { formatBytes } from '../../../src/cli/text/format.ts'
import { messageOf } from '../../../src/domain/error.ts'
import type { DoctorView, Finding } from '../../../src/domain/view/doctor.ts'
import { asked } from '../data/asked.ts'
import { pawl } from '../data/pawl.ts'
import { Badge } from '../parts/badge.tsx'
import { Shown } from '../parts/states.tsx'
import { Since } from '../parts/time.tsx'
import styles from './doctor.module.css'

/** What "pawl doctor" finds on the machine of the daemon, as it is found, and what to do about each thing. */
export default function Doctor() {
  const doctor = useQuery(asked.doctor)
  const again = useMutation({ mutationFn: () => pawl.inspect({ fresh: true }) })
  return (
    <div className="stack">
      <div className="row">
        <h1>Doctor</h1>
        <button type="button" disabled={again.isPending || doctor.data?.isRunning} onClick={() => again.mutate()}>
          Look again
        </button>
        {again.isError && <span role="alert">{messageOf(again.error)}</span>}
      </div>
      <Shown asked={doctor}>{(found) => <Found found={found} />}</Shown>
    </div>
  )
}

const worst: Record<Finding['level'], number> = { fail: 0, warn: 1, ok: 2, note: 3 }
const tones = { fail: 'bad', warn: 'ask', ok: 'good', note: 'faint' } as const

function Found({ found: { startedAt, isRunning, home, sizeBytes, rows } }: { found: DoctorView }) {
  const sorted = rows.toSorted((one, other) => worst[one.level] - worst[other.level])
  const bad = rows.filter(({ level }) => level === 'fail' || level === 'warn').length
  const said = isRunning
    ? `Looking: ${rows.length} things so far …`
    : bad === 0
      ? 'Everything is well.'
      : `${bad} of ${rows.length} need a look.`
  return (
    <>
      <p role="status" className="row">
        <strong>{said}</strong>
        <span className="faint small">
          looked <Since at={startedAt} /> · <code>{home}</code>
          {sizeBytes !== null && ` (${formatBytes(sizeBytes)})`}
        </span>
      </p>
      <ul className={`card lines ${styles.rows}`}>
        {sorted.map(({ name, level, detail, fix }) => (
          <li key={name} className={styles.row}>
            <Badge tone={tones[level]}>{level}</Badge>
            <strong>{name}</strong>
            <div className={styles.detail}>
              <div>{detail}</div>
              {fix && level !== 'ok' && (
                <div className={styles.fix}>
                  What to do: <code>{fix}</code>
                </div>
              )}
            </div>
          </li>
        ))}
      </ul>
    </>
  )
}
