import { useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useEffect, useId, useRef, useState } from 'react'
import { messageOf } from '../../../src/domain/error.ts'
import type { QuestionView } from '../../../src/domain/view/view.ts'
import { useKeys } from '../app/keys.ts'
import { pawl } from '../data/pawl.ts'
import { drawn } from '../drawn/drawn.ts'
import styles from './question-box.module.css'
import { QuestionCall } from './question-call.tsx'
import { QuestionDeadline } from './question-deadline.tsx'
import { Since } from './time.tsx'

/** A person decides about it word for word. */
const exactly = { exactly: true }

interface QuestionBoxProps {
  readonly question: QuestionView
  /** Shows the way to its task. */
  readonly linked?: boolean
  /** The number keys choose among its options. */
  readonly hasKeys?: boolean
  /** Somebody has gone to it, so that a key is meant for it at once. */
  readonly isChosen?: boolean
  readonly onAnswered?: () => void
}

/** One question and the ways to answer it. What is sent names exactly what was shown: a question that changed meanwhile is not answered by mistake. */
export function QuestionBox({ question, linked = false, hasKeys = false, isChosen = false, onAnswered }: QuestionBoxProps) {
  const [text, setText] = useState('')
  const [chosen, setChosen] = useState<readonly number[]>([])
  const name = useId()
  const box = useRef<HTMLElement>(null)
  const words = useRef<HTMLTextAreaElement>(null)
  const { digest, options, multiSelect } = question
  const { asked, why } = aroundCall(question)
  const answer = useMutation({
    mutationFn: (given: { answer: string } | { options: number[] }) => pawl.answerQuestion(question.id, { ...given, digest }),
    onSuccess: () => onAnswered?.(),
  })
  // Until it has gone from the list, too.
  const isSent = answer.isPending || answer.isSuccess
  const choose = (n: number) => {
    if (!options[n] || isSent) return
    if (multiSelect) setChosen((before) => (before.includes(n) ? before.filter((one) => one !== n) : [...before, n]))
    else answer.mutate({ options: [n + 1] })
  }
  const send = () => {
    if (chosen.length > 0 && !isSent) answer.mutate({ options: chosen.map((n) => n + 1) })
  }
  const isKeyMeant = useMeantKeys(hasKeys && !isChosen)
  const meant = (act: () => void) => (event: KeyboardEvent) => isKeyMeant(event) && act()
  const numbers = options.slice(0, 9).map((_, n) => [String(n + 1), meant(() => choose(n))] as const)
  useKeys(
    hasKeys
      ? { ...Object.fromEntries(numbers), r: () => words.current?.focus(), ...(multiSelect ? { s: meant(send) } : {}) }
      : {},
  )
  useEffect(() => {
    if (isChosen) box.current?.focus()
  }, [isChosen])
  return (
    <article
      ref={box}
      tabIndex={-1}
      className={`card ${styles.box} ${isChosen ? styles.chosen : ''}`}
      aria-labelledby={name}
      aria-current={isChosen || undefined}
    >
      <div className="row small faint">
        <span>{question.kind === 'permission' ? 'Permission' : 'Question'}</span>
        <span>
          asked <Since at={question.askedAt} />
        </span>
        <QuestionDeadline question={question} />
        {question.mayAnswer && <span>only {question.mayAnswer.join(', ')} may answer</span>}
        {linked && (
          <Link to="/tasks/$task" params={{ task: question.task }}>
            Show its task
          </Link>
        )}
      </div>
      <p id={name} className={styles.text}>
        {drawn(asked, exactly)}
      </p>
      {question.call && <QuestionCall call={question.call} />}
      {why !== undefined && <p className={styles.text}>{drawn(why, exactly)}</p>}
      {options.length > 0 && (
        <div className={styles.options}>
          {options.map((option, n) => (
            <button
              // biome-ignore lint/suspicious/noArrayIndexKey: an answer names an option by its place
              key={n}
              type="button"
              aria-pressed={multiSelect ? chosen.includes(n) : undefined}
              className={chosen.includes(n) ? 'primary' : ''}
              disabled={isSent}
              onClick={() => choose(n)}
            >
              {hasKeys && n < 9 && <kbd>{n + 1}</kbd>}
              {drawn(option, exactly)}
            </button>
          ))}
          {multiSelect && (
            <button type="button" className="primary" disabled={chosen.length === 0 || isSent} onClick={send}>
              {hasKeys && <kbd>s</kbd>}
              Send {chosen.length || ''}
            </button>
          )}
        </div>
      )}
      <form
        className={styles.own}
        onSubmit={(event) => {
          event.preventDefault()
          if (text.trim() !== '' && !isSent) answer.mutate({ answer: text })
        }}
      >
        <textarea
          ref={words}
          aria-label={options.length > 0 ? 'Another answer' : 'Your answer'}
          placeholder={options.length > 0 ? 'Or in your own words' : 'Your answer'}
          rows={1}
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) event.currentTarget.form?.requestSubmit()
            // Back to the keys of the screen.
            else if (event.key === 'Escape') box.current?.focus()
          }}
        />
        <button type="submit" disabled={text.trim() === '' || isSent}>
          {isSent ? 'Sending…' : 'Answer'}
        </button>
      </form>
      {answer.isError && (
        <p role="alert" className={styles.refused}>
          {messageOf(answer.error)}
        </p>
      )}
    </article>
  )
}

/** The sentences around the call that a permission is about, where the call itself is shown in full between them; else all of the text. */
function aroundCall({ text, kind, call }: QuestionView): { asked: string; why?: string | undefined } {
  const [first = '', shown = '', why, ...more] = text.split('\n\n')
  const inside = /^\w+\((.+)\)$/s.exec(shown)?.[1]
  const isTwice = inside !== undefined && call?.input?.includes(JSON.stringify(inside)) === true
  return kind === 'permission' && isTwice && why !== undefined && more.length === 0 ? { asked: first, why } : { asked: text }
}

/** A question that moves up has the keys of the one before it; a key that is held or pressed twice was not meant for it. */
function useMeantKeys(hasKeys: boolean): (event: KeyboardEvent) => boolean {
  const [hadKeysFirst] = useState(hasKeys)
  const since = useRef(Number.NEGATIVE_INFINITY)
  useEffect(() => {
    if (hasKeys && !hadKeysFirst) since.current = performance.now()
  }, [hasKeys, hadKeysFirst])
  return (event) => !event.repeat && performance.now() - since.current > 700
}
