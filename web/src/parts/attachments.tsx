import { type DragEvent, useEffect, useId, useRef, useState } from 'react'
import { messageOf } from '../../../src/domain/error.ts'
import type { UploadView } from '../../../src/domain/files/view.ts'
import { type Uploading, upload } from '../data/upload.ts'
import styles from './attachments.module.css'
import { Size } from './size.tsx'

interface Coming {
  readonly key: number
  readonly name: string
  readonly size: number
  readonly part: number
  readonly problem?: string | undefined
}

/**
 * Files that are to go with a task: picked, dropped, or pasted anywhere on the screen. `value` are those that are handed in; `onBusy` tells while others are on their
 * way. A new task names their ids.
 */
export function Attachments({
  value,
  onChange,
  onBusy,
}: {
  value: readonly UploadView[]
  onChange: (value: readonly UploadView[]) => void
  onBusy?: ((isBusy: boolean) => void) | undefined
}) {
  const [coming, setComing] = useState<readonly Coming[]>([])
  const [isOver, setOver] = useState(false)
  const picker = useRef<HTMLInputElement>(null)
  const underWay = useRef(new Map<number, Uploading>())
  const lastKey = useRef(0)
  // What comes back later is added to what is there then.
  const latest = useRef({ value, onChange })
  latest.current = { value, onChange }
  const label = useId()

  const change = (key: number, what: Partial<Coming>) =>
    setComing((all) => all.map((one) => (one.key === key ? { ...one, ...what } : one)))
  const forget = (key: number) => {
    underWay.current.get(key)?.cancel()
    underWay.current.delete(key)
    setComing((all) => all.filter((one) => one.key !== key))
  }
  const add = (files: Iterable<File>) => {
    for (const file of files) {
      const key = ++lastKey.current
      const name = file.name || `pasted.${file.type.split('/')[1] ?? 'bin'}`
      setComing((all) => [...all, { key, name, size: file.size, part: 0 }])
      const going = upload(file, name, (part) => change(key, { part }))
      underWay.current.set(key, going)
      going.done.then(
        (made) => {
          forget(key)
          const now = latest.current
          if (!now.value.some(({ id }) => id === made.id)) now.onChange([...now.value, made])
        },
        (error: unknown) => {
          underWay.current.delete(key)
          change(key, { problem: messageOf(error) })
        },
      )
    }
  }

  const addLatest = useRef(add)
  addLatest.current = add
  useEffect(() => {
    const paste = (event: ClipboardEvent) => {
      const files = event.clipboardData?.files
      if (!files?.length) return
      event.preventDefault()
      addLatest.current(files)
    }
    const all = underWay.current
    document.addEventListener('paste', paste)
    return () => {
      document.removeEventListener('paste', paste)
      for (const going of all.values()) going.cancel()
    }
  }, [])
  const isBusy = coming.some(({ problem }) => problem === undefined)
  useEffect(() => onBusy?.(isBusy), [isBusy, onBusy])

  const over = (event: DragEvent) => {
    if (!event.dataTransfer.types.includes('Files')) return
    event.preventDefault()
    setOver(true)
  }
  return (
    <section
      className={`${styles.files} ${isOver ? styles.over : ''}`}
      aria-labelledby={label}
      onDragOver={over}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault()
        setOver(false)
        add(event.dataTransfer.files)
      }}
    >
      <div className="row">
        <span id={label}>Files</span>
        <button type="button" onClick={() => picker.current?.click()}>
          Attach files…
        </button>
        <span className="faint small">or drop or paste them here</span>
        <input
          ref={picker}
          type="file"
          multiple
          hidden
          aria-label="Files to attach"
          onChange={(event) => {
            add(event.target.files ?? [])
            event.target.value = ''
          }}
        />
      </div>
      {value.length + coming.length > 0 && (
        <ul className={styles.list}>
          {value.map((file) => (
            <li key={file.id} className={styles.item}>
              <span className={styles.name}>{file.name}</span>
              <Size bytes={file.size} />
              <button type="button" onClick={() => onChange(value.filter(({ id }) => id !== file.id))}>
                Remove<span className={styles.unseen}> {file.name}</span>
              </button>
            </li>
          ))}
          {coming.map(({ key, name, size, part, problem }) => (
            <li key={key} className={styles.item}>
              <span className={styles.name}>{name}</span>
              <Size bytes={size} />
              {problem === undefined ? (
                <progress aria-label={`${name} is handed in`} max={1} value={part} />
              ) : (
                <span role="alert" className={styles.refused}>
                  {problem}
                </span>
              )}
              <button type="button" onClick={() => forget(key)}>
                {problem === undefined ? 'Cancel' : 'Remove'}
                <span className={styles.unseen}> {name}</span>
              </button>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}
