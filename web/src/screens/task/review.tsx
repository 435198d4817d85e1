import { useMutation } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { messageOf } from '../../../../src/domain/error.ts'
import type { TaskView } from '../../../../src/domain/view/view.ts'
import { useKeys } from '../../app/keys.ts'
import { pawl } from '../../data/pawl.ts'
import styles from './task.module.css'

/** Work that waits for a person: `a` accepts it, `r` goes to the comment with which it is sent back. */
export function Review({ task, hasKeys }: { task: TaskView; hasKeys: boolean }) {
  const [comment, setComment] = useState('')
  const field = useRef<HTMLTextAreaElement>(null)
  const accept = useMutation({ mutationFn: () => pawl.acceptTask(task.id) })
  const reject = useMutation({ mutationFn: () => pawl.rejectTask(task.id, { comment }) })
  // Until it is no longer in review, too.
  const isSent = [accept, reject].some((sent) => sent.isPending || sent.isSuccess)
  const failed = [accept, reject].find(({ isError }) => isError)
  useKeys(hasKeys ? { a: (event) => !event.repeat && !isSent && accept.mutate(), r: () => field.current?.focus() } : {})
  return (
    <section className={`card stack ${styles.review}`} aria-labelledby="review">
      <h2 id="review">Is the work good?</h2>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          if (comment.trim() !== '' && !isSent) reject.mutate()
        }}
      >
        <label>
          <span>What is to be changed</span>
          <textarea
            ref={field}
            rows={2}
            className={styles.comment}
            value={comment}
            onChange={(event) => setComment(event.target.value)}
            onKeyDown={(event) => {
              if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) event.currentTarget.form?.requestSubmit()
              else if (event.key === 'Escape') event.currentTarget.blur()
            }}
          />
        </label>
        <div className="row">
          <button type="button" className="primary" disabled={isSent} onClick={() => accept.mutate()}>
            {hasKeys && <kbd>a</kbd>}
            Accept
          </button>
          <button type="submit" disabled={comment.trim() === '' || isSent}>
            Send back
          </button>
          <span className={`small faint ${styles.hint}`}>
            {hasKeys && (
              <>
                <kbd>r</kbd> writes a comment,{' '}
              </>
            )}
            <kbd>Ctrl</kbd> <kbd>Enter</kbd> sends the work back with it
          </span>
        </div>
      </form>
      {failed && (
        <p role="alert" className={styles.refused}>
          {messageOf(failed.error)}
        </p>
      )}
    </section>
  )
}
