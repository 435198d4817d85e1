import { useQuery } from '@tanstack/react-query'
import { isImage } from '../../../src/domain/files/file-type.ts'
import type { ArtifactView } from '../../../src/domain/files/view.ts'
import type { TaskView } from '../../../src/domain/view/view.ts'
import { asked } from '../data/asked.ts'
import styles from './artifacts.module.css'
import { Size } from './size.tsx'
import { Shown } from './states.tsx'
import { Since } from './time.tsx'

const addressOf = ({ task, id }: ArtifactView) => `/api/v1/tasks/${task}/artifacts/${id}`
/** A larger picture is worth a click, not a wait. */
const largestPreview = 3_000_000

/** The files that a task has left for people. Shows nothing where there are none. */
export function Artifacts({ task }: { task: Pick<TaskView, 'id' | 'artifacts'> }) {
  const found = useQuery({ ...asked.artifacts(task.id), enabled: task.artifacts > 0 })
  if (task.artifacts === 0) return null
  return (
    <Shown asked={found}>
      {(files) => (
        <ul className={styles.list} aria-label="Files that the task has left">
          {files.map((file) => (
            <li key={file.id} className={styles.item}>
              {isImage(file.type) && file.size <= largestPreview && (
                <img className={styles.preview} src={addressOf(file)} alt="" loading="lazy" />
              )}
              <span className={styles.name}>{file.name}</span>
              <Size bytes={file.size} />
              <span className="faint small">
                <Since at={file.createdAt} />
              </span>
              <a className="button" href={addressOf(file)} download={file.name.split('/').at(-1)}>
                Download<span className={styles.unseen}> {file.name}</span>
              </a>
            </li>
          ))}
        </ul>
      )}
    </Shown>
  )
}
