import { useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useEffect, useId, useRef, useState } from 'react'
import { messageOf } from '../../../src/domain/error.ts'
import type { QuestionView } from '../../../src/domain/view.ts'
import { useKeys } from '../app/keys.ts'
import { pawl } from '../data/pawl.ts'
import styles from './question-box.module.css'
import { Ago, Countdown } from './time.tsx'

/** One question and the ways to answer it. What is sent names exactly what was shown: a question that changed meanwhile is not answered by mistake. */
export function QuestionBox({
  question,
  linked = false,
  hasKeys = false,
}: {
  question: QuestionView
  linked?: boolean
  hasKeys?: boolean
}) {
  const [text, setText] = useState('')
  const [chosen, setChosen] = useState<readonly number[]>([])
  const name = useId()
  const { digest, options, multiSelect } = question
  const answer = useMutation({
    mutationFn: (given: { answer: string } | { options: number[] }) => pawl.answerQuestion(question.id, { ...given, digest }),
  })
  // Until it has gone from the list, too.
  const isSent = answer.isPending || answer.isSuccess
  const choose = (n: number) => {
    if (!options[n] || isSent) return
    if (multiSelect) setChosen((before) => (before.includes(n) ? before.filter((one) => one !== n) : [...before, n]))
    else answer.mutate({ options: [n + 1] })
  }
  const isKeyMeant = useMeantKeys(hasKeys)
  const press = (n: number) => (event: KeyboardEvent) => isKeyMeant(event) && choose(n)
  useKeys(hasKeys ? Object.fromEntries(options.slice(0, 9).map((_, n) => [String(n + 1), press(n)])) : {})
  return (
    <article className={`card ${styles.box}`} aria-labelledby={name}>
      <div className="row small faint">
        <span>{question.kind === 'permission' ? 'Permission' : 'Question'}</span>
        <span>
          asked <Ago at={question.askedAt} /> ago
        </span>
        {question.deadline && (
          <span>
            answer within <Countdown to={question.deadline} />
          </span>
        )}
        {linked && (
          <Link to="/tasks/$task" params={{ task: question.task }}>
            Show its task
          </Link>
        )}
      </div>
      <p id={name} className={styles.text}>
        {question.text}
      </p>
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
              {option}
            </button>
          ))}
          {multiSelect && (
            <button
              type="button"
              className="primary"
              disabled={chosen.length === 0 || isSent}
              onClick={() => answer.mutate({ options: chosen.map((n) => n + 1) })}
            >
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
          aria-label={options.length > 0 ? 'Another answer' : 'Your answer'}
          placeholder={options.length > 0 ? 'Or in your own words' : 'Your answer'}
          rows={1}
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) event.currentTarget.form?.requestSubmit()
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

/** A question that moves up has the keys of the one before it; a key that is held or pressed twice was not meant for it. */
function useMeantKeys(hasKeys: boolean): (event: KeyboardEvent) => boolean {
  const [hadKeysFirst] = useState(hasKeys)
  const since = useRef(Number.NEGATIVE_INFINITY)
  useEffect(() => {
    if (hasKeys && !hadKeysFirst) since.current = performance.now()
  }, [hasKeys, hadKeysFirst])
  return (event) => !event.repeat && performance.now() - since.current > 700
}
