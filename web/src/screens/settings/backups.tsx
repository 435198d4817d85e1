import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { messageOf } from '../../../../src/domain/error.ts'
import type { BackupUnderWay, BackupView } from '../../../../src/domain/view/backup.ts'
import { asked } from '../../data/asked.ts'
import { pawl } from '../../data/pawl.ts'
import { Size } from '../../parts/size.tsx'
import { Shown } from '../../parts/states.tsx'
import styles from './backups.module.css'

/** Everything in one file: those that are kept, and one more now. */
export function Backups() {
  const backups = useQuery(asked.backups)
  return (
    <section className="card stack" aria-labelledby="backups">
      <h2 id="backups">Backups</h2>
      <p className="faint">
        One file with every task, run, event, session, schedule, user and setting, as it was in one moment. Secrets are in it
        sealed; the key that opens them is not, so keep a copy of the key elsewhere. <code>pawl restore FILE</code> puts one back.
        For other programs:{' '}
        <a href="/api/v1/export" download="pawl-export.jsonl">
          everything as lines of JSON
        </a>
        .
      </p>
      <Make />
      <Shown asked={backups}>
        {(found) =>
          found.length === 0 ? (
            <p>
              There is none yet. With <code>backup.every</code> in the settings they are taken by themselves.
            </p>
          ) : (
            <ul className={`stack ${styles.all}`}>
              {found.map((backup) => (
                <Line key={backup.name} backup={backup} />
              ))}
            </ul>
          )
        }
      </Shown>
    </section>
  )
}

function Line({ backup }: { backup: BackupView }) {
  const { name, takenAt, bytes, withKeys } = backup
  return (
    <li className={styles.backup}>
      <div>
        <div className="row">
          <strong>{new Date(takenAt).toLocaleString()}</strong>
          <Size bytes={bytes} />
        </div>
        <div className="faint">{contentOf(backup)}</div>
      </div>
      {withKeys ? (
        <span className="faint">Copy it at the machine itself: {name}</span>
      ) : (
        <a
          className="button"
          href={`/api/v1/backups/${encodeURIComponent(name)}`}
          download={name}
          aria-label={`Download ${name}`}
        >
          Download
        </a>
      )}
    </li>
  )
}

function contentOf({ rows, tables, files, pawl: version, withKeys, withWorkspaces, withLogs }: BackupView): string {
  const more = [...(withWorkspaces ? ['workspaces'] : []), ...(withLogs ? ['raw logs'] : []), ...(withKeys ? ['the key'] : [])]
  const beside = more.length > 0 ? `, with ${more.join(', ')}` : ''
  const less = withKeys ? '' : ' The key is not in it.'
  return `${rows.toLocaleString()} rows of ${tables} tables, ${files} ${files === 1 ? 'file' : 'files'}${beside}. Pawl ${version}.${less}`
}

function Make() {
  const [withWorkspaces, setWorkspaces] = useState(false)
  const [withLogs, setLogs] = useState(false)
  const make = useMutation({ mutationFn: () => pawl.createBackup({ withWorkspaces, withLogs }) })
  // Somebody else, or the daemon by itself, may take one just now.
  const underWay = useQuery({
    ...asked.backupUnderWay,
    refetchInterval: (query) => (make.isPending || query.state.data ? 500 : 5_000),
  })
  const isBusy = make.isPending || Boolean(underWay.data)
  return (
    <div className="stack">
      <div className="row">
        <button type="button" disabled={isBusy} onClick={() => make.mutate()}>
          Take a backup now
        </button>
        <label className="row">
          <input type="checkbox" checked={withWorkspaces} onChange={(event) => setWorkspaces(event.target.checked)} />
          <span>with Pawl’s own workspaces</span>
        </label>
        <label className="row">
          <input type="checkbox" checked={withLogs} onChange={(event) => setLogs(event.target.checked)} />
          <span>with raw logs</span>
        </label>
      </div>
      <p role="status" className="faint">
        {isBusy ? <Progress underWay={underWay.data} /> : make.data ? `${make.data.name} is whole and on disk.` : ''}
      </p>
      {make.isError && <p role="alert">{messageOf(make.error)}</p>}
    </div>
  )
}

function Progress({ underWay }: { underWay: BackupUnderWay | null | undefined }) {
  if (!underWay?.part) return 'A backup is being taken…'
  return (
    <>
      A backup is being taken: <Size bytes={underWay.contentBytes} /> so far, {underWay.part} is written.
    </>
  )
}
