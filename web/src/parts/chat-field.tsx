import { type FormEvent, type KeyboardEvent, useRef, useState } from 'react'
import type { UploadView } from '../../../src/domain/files/view.ts'
import type { NewTask } from '../../../src/domain/view/view.ts'
import { useKeys } from '../app/keys.ts'
import { useDraft } from '../data/outgoing.ts'
import { Attachments } from './attachments.tsx'
import styles from './chat-field.module.css'

/** Where a message is written. Enter sends it, Shift+Enter begins a new line; what is written is kept until it is sent. */
export function ChatField({
  conversation,
  label,
  hint,
  isFresh,
  onFresh,
  onSend,
}: {
  conversation: string
  label: string
  hint?: string | undefined
  /** The message begins a new conversation in the same session. */
  isFresh?: boolean
  onFresh?: (isFresh: boolean) => void
  onSend: (written: Pick<NewTask, 'prompt' | 'attachments'>) => void
}) {
  const [text, setText] = useDraft(conversation)
  const [files, setFiles] = useState<readonly UploadView[]>([])
  const [isAttaching, setAttaching] = useState(false)
  const [isBusy, setBusy] = useState(false)
  const field = useRef<HTMLTextAreaElement>(null)
  useKeys({ '/': () => field.current?.focus() })
  const submit = (event?: FormEvent) => {
    event?.preventDefault()
    if (text.trim() === '' || isBusy) return
    onSend({ prompt: text, attachments: files.length > 0 ? files.map(({ id }) => id) : undefined })
    setText('')
    setFiles([])
    setAttaching(false)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    // An input method uses Enter to choose a word.
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
    event.preventDefault()
    submit()
  }
  return (
    <form className={`card ${styles.form}`} onSubmit={submit}>
      {(hint || isFresh) && (
        <p className="small faint" role="status">
          {isFresh ? 'This message begins a new conversation: the agent does not remember what was said before.' : hint}
        </p>
      )}
      <div className={styles.line}>
        <textarea
          ref={field}
          aria-label={label}
          placeholder={label}
          rows={1}
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={onKeyDown}
        />
        <button type="submit" className="primary" disabled={text.trim() === '' || isBusy}>
          Send
        </button>
      </div>
      {isAttaching && <Attachments value={files} onChange={setFiles} onBusy={setBusy} />}
      <div className="row small faint">
        <button type="button" className={`quiet ${styles.small}`} aria-expanded={isAttaching} onClick={() => setAttaching(true)}>
          Attach
        </button>
        {onFresh && (
          <button type="button" className={`quiet ${styles.small}`} aria-pressed={isFresh} onClick={() => onFresh(!isFresh)}>
            {isFresh ? 'Go on with this conversation' : 'New conversation'}
          </button>
        )}
        <span className={styles.keys}>
          <kbd>Enter</kbd> sends, <kbd>Shift</kbd>+<kbd>Enter</kbd> begins a new line
        </span>
      </div>
    </form>
  )
}
