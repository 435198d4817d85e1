import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { messageOf } from '../../../../src/domain/error.ts'
import { asked } from '../../data/asked.ts'
import styles from './new-task.module.css'

/** Folders on the machine of the daemon, as far as whoever is signed in may have agents work there. */
export function FolderBrowser({ from, onChoose }: { from: string | undefined; onChoose: (path: string) => void }) {
  const [path, setPath] = useState(from)
  const { data, error, isFetching } = useQuery({ ...asked.folders(path), retry: false })
  return (
    <section className={`card ${styles.wide} ${styles.browser}`} aria-label="Folders">
      <div className="row">
        <code className="grow one-line">{(path === undefined ? undefined : data?.path) ?? path ?? 'Begin at'}</code>
        {path !== undefined && (
          <>
            <button
              type="button"
              disabled={isFetching}
              onClick={() => setPath(data?.path === path ? (data?.parent ?? undefined) : undefined)}
            >
              Up
            </button>
            <button
              type="button"
              className="primary"
              disabled={!data?.path || Boolean(error)}
              onClick={() => data?.path && onChoose(data.path)}
            >
              Work here
            </button>
          </>
        )}
      </div>
      {error && (
        <p role="alert" className={styles.refused}>
          {messageOf(error)}
        </p>
      )}
      <ul className={styles.folders}>
        {data?.items.map((folder) => (
          <li key={folder.path}>
            <button type="button" className="quiet" onClick={() => setPath(folder.path)}>
              {folder.name}
              {folder.isRepository && <span className="faint small">git</span>}
            </button>
          </li>
        ))}
      </ul>
      {data?.items.length === 0 && <p className="faint small">No folders in here.</p>}
      {data?.isCut && <p className="faint small">There are more; write the path.</p>}
    </section>
  )
}
