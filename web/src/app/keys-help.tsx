import { useEffect, useRef, useState } from 'react'
import styles from './keys-help.module.css'
import { screens } from './screens.ts'

const others: readonly (readonly [keys: readonly string[], does: string])[] = [
  [['/'], 'the field of the screen'],
  [['1', '9'], 'an option of the marked question'],
  [['j', 'k'], 'in the inbox: the next question, the one before'],
  [['r'], 'write an answer to the marked question'],
  [['Ctrl', 'Enter'], 'send what is written in a long field'],
  [['?'], 'these keys'],
]

/** Opens with the key that everybody tries. */
export function KeysHelp() {
  const dialog = useRef<HTMLDialogElement>(null)
  const [isOpen, setOpen] = useState(false)
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const target = event.target instanceof HTMLElement ? event.target : undefined
      const isWriting = target?.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target?.tagName ?? '')
      if (event.key !== '?' || event.ctrlKey || event.metaKey || event.altKey || isWriting) return
      event.preventDefault()
      setOpen(true)
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [])
  useEffect(() => {
    if (isOpen && !dialog.current?.open) dialog.current?.showModal()
  }, [isOpen])
  return (
    <>
      <button type="button" className={`quiet ${styles.button}`} aria-label="Keys" title="Keys" onClick={() => setOpen(true)}>
        <span aria-hidden="true">?</span>
      </button>
      <dialog ref={dialog} className={styles.dialog} aria-labelledby="keys-help" onClose={() => setOpen(false)}>
        {isOpen && (
          <div className="stack">
            <div className={styles.head}>
              <h2 id="keys-help">Keys</h2>
              <button type="button" onClick={() => dialog.current?.close()}>
                Close
              </button>
            </div>
            <dl className={styles.keys}>
              {screens.map(({ path, title, menu }) => menu && <Row key={path} keys={['g', menu.letter]} does={title} />)}
              {others.map(([keys, does]) => (
                <Row key={does} keys={keys} does={does} joint={keys[0] === '1' ? 'to' : keys[0] === 'Ctrl' ? '+' : undefined} />
              ))}
            </dl>
          </div>
        )}
      </dialog>
    </>
  )
}

function Row({ keys, does, joint = 'then' }: { keys: readonly string[]; does: string; joint?: string | undefined }) {
  return (
    <div>
      <dt>
        {keys.map((key, n) => (
          <span key={key}>
            {n > 0 && <span className="faint"> {joint} </span>}
            <kbd>{key}</kbd>
          </span>
        ))}
      </dt>
      <dd>{does}</dd>
    </div>
  )
}
