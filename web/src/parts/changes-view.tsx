import { useQueries, useQuery } from '@tanstack/react-query'
import { useId, useMemo, useState } from 'react'
import type { ChangedFile, RunChangesView, TaskChangesView, TaskFile } from '../../../src/domain/view/changes.ts'
import type { TaskView } from '../../../src/domain/view/view.ts'
import { asked } from '../data/asked.ts'
import { readDiff } from '../data/diff.ts'
import { useWindowOf } from '../data/use-window.ts'
import styles from './changes-view.module.css'
import { DiffLines } from './diff-lines.tsx'
import { Empty, Failure, Loading, Shown } from './states.tsx'

/** What a task changed in its workspace: the files, and how each of them was changed when it is opened. */
export function ChangesView({ task }: { task: Pick<TaskView, 'id'> }) {
  const changes = useQuery(asked.changes(task.id))
  return <Shown asked={changes}>{(found) => <Body changes={found} />}</Shown>
}

function Body({ changes }: { changes: TaskChangesView }) {
  const [chosen, setChosen] = useState('')
  const [isBeside, setBeside] = useState(false)
  const isWide = useWindowOf('(min-width: 1100px)')
  const run = changes.runs.find((one) => one.run === chosen)
  const told = run ?? changes
  const files: TaskFile[] = run ? run.files.map((file) => ({ ...file, runs: [run.run] })) : changes.files
  const ran = changes.runs.filter(({ state }) => state !== 'open')
  return (
    <div className="stack">
      <div className="row">
        <p className="grow">
          {told.fileCount === 1 ? '1 file' : `${told.fileCount} files`}{' '}
          <span className="faint">
            with <Lines file={told} />
          </span>
        </p>
        {isWide && files.length > 0 && (
          <label className={styles.beside}>
            <input type="checkbox" checked={isBeside} onChange={(event) => setBeside(event.target.checked)} />
            Side by side
          </label>
        )}
        {changes.runs.length > 1 && (
          <select
            aria-label="Which run"
            className={styles.runs}
            value={chosen}
            onChange={(event) => setChosen(event.target.value)}
          >
            <option value="">All runs</option>
            {changes.runs.map((one) => (
              <option key={one.run} value={one.run}>
                Run {one.number}: {one.state === 'files' ? count(one.fileCount) : said[one.state]}
              </option>
            ))}
          </select>
        )}
      </div>
      <Gaps runs={run ? [run] : changes.runs} />
      {files.length > 0 ? (
        <Files key={chosen} task={changes.task} files={files} runs={changes.runs} isBeside={isBeside && isWide} />
      ) : ran.length === 0 ? (
        <Empty title="Nothing is known yet.">
          <p className="faint">What a run changes is known when it has ended.</p>
        </Empty>
      ) : (
        <Empty title={ran.every(({ state }) => state === 'nothing') ? 'Nothing was changed.' : 'No change is known.'} />
      )}
    </div>
  )
}

const count = (files: number) => (files === 1 ? '1 file' : `${files} files`)
const said = { nothing: 'nothing', unknown: 'not known', open: 'goes on', files: '' } as const

function Gaps({ runs }: { runs: readonly RunChangesView[] }) {
  const gaps = runs.filter(({ why }) => why !== null)
  if (gaps.length === 0) return null
  return (
    <ul className={styles.gaps}>
      {gaps.map(({ run, number, why }) => (
        <li key={run}>
          Run {number}: {why}
        </li>
      ))}
    </ul>
  )
}

/** So many are a page. */
const pageFiles = 200

interface FilesProps {
  readonly task: string
  readonly files: readonly TaskFile[]
  readonly runs: readonly RunChangesView[]
  readonly isBeside: boolean
}

function Files({ task, files, runs, isBeside }: FilesProps) {
  const [most, setMost] = useState(pageFiles)
  // A single file is what somebody came to see.
  const [open, setOpen] = useState<ReadonlySet<string>>(() => new Set(files.length === 1 ? [files[0]!.path] : []))
  const toggle = (path: string) =>
    setOpen((before) => {
      const after = new Set(before)
      if (!after.delete(path)) after.add(path)
      return after
    })
  return (
    <>
      <ul className={`card lines ${styles.files}`}>
        {files.slice(0, most).map((file) => (
          <li key={file.path}>
            <File
              task={task}
              file={file}
              runs={runs}
              isOpen={open.has(file.path)}
              isBeside={isBeside}
              onToggle={() => toggle(file.path)}
            />
          </li>
        ))}
      </ul>
      {files.length > most && (
        <button type="button" onClick={() => setMost(most + pageFiles)}>
          Show {Math.min(pageFiles, files.length - most)} more of {files.length}
        </button>
      )}
    </>
  )
}

const letters = { added: 'A', modified: 'M', deleted: 'D', renamed: 'R', retyped: 'T' } as const
const words = { added: 'new', modified: 'changed', deleted: 'removed', renamed: 'renamed', retyped: 'another kind' } as const

interface FileProps extends Omit<FilesProps, 'files'> {
  readonly file: TaskFile
  readonly isOpen: boolean
  readonly onToggle: () => void
}

function File({ task, file, runs, isOpen, isBeside, onToggle }: FileProps) {
  const id = useId()
  return (
    <>
      <button
        type="button"
        className={styles.file}
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        onClick={onToggle}
      >
        <span className={`${styles.letter} ${styles[file.status]}`} aria-hidden="true" title={words[file.status]}>
          {letters[file.status]}
        </span>
        <span className="hidden-but-read">{words[file.status]}</span>
        <span className={styles.path}>
          {file.from !== null && <span className="faint">{file.from} → </span>}
          {file.path}
        </span>
        <span className={styles.counts}>{file.binary ? <span className="faint">not text</span> : <Lines file={file} />}</span>
      </button>
      {isOpen && (
        <div id={id}>
          <Difference task={task} file={file} runs={runs} isBeside={isBeside} />
        </div>
      )}
    </>
  )
}

const Lines = ({ file }: { file: Pick<ChangedFile, 'added' | 'removed'> }) => (
  <span className={styles.lines}>
    <span className={styles.plus}>+{file.added ?? 0}</span> <span className={styles.minus}>−{file.removed ?? 0}</span>
    <span className="hidden-but-read"> lines</span>
  </span>
)

/** Of a file that several runs changed: what each of them did. */
function Difference({ task, file, runs, isBeside }: Omit<FileProps, 'isOpen' | 'onToggle'>) {
  const found = useQueries({ queries: file.runs.map((run) => asked.diff(task, run, file.path)) })
  if (file.patch === 'none')
    return (
      <p className={styles.told}>
        {file.binary ? 'This file is no text, or is too large to be shown.' : 'How it was changed is not kept.'}
      </p>
    )
  return (
    <>
      {found.map((one, at) => {
        const run = file.runs[at]!
        return (
          <div key={run}>
            {file.runs.length > 1 && <p className={styles.told}>Run {runs.find((other) => other.run === run)?.number}</p>}
            {one.data !== undefined ? (
              <Patch patch={one.data} name={file.path} isBeside={isBeside} />
            ) : one.error ? (
              <Failure error={one.error} again={() => void one.refetch()} />
            ) : (
              <Loading />
            )}
          </div>
        )
      })}
      {file.patch === 'cut' && <p className={styles.told}>More was changed; only the beginning is kept.</p>}
    </>
  )
}

function Patch({ patch, name, isBeside }: { patch: string; name: string; isBeside: boolean }) {
  const lines = useMemo(() => readDiff(patch), [patch])
  if (lines.length === 0) return <p className={styles.told}>Its contents are the same.</p>
  return <DiffLines lines={lines} isBeside={isBeside} label={`How ${name} was changed`} />
}
