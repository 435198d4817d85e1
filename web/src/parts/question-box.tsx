import { useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useId, useState } from 'react'
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
  const choose = (n: number) => {
    if (!options[n] || answer.isPending) return
    if (multiSelect) setChosen((before) => (before.includes(n) ? before.filter((one) => one !== n) : [...before, n]))
    else answer.mutate({ options: [n + 1] })
  }
  useKeys(hasKeys ? Object.fromEntries(options.slice(0, 9).map((_, n) => [String(n + 1), () => choose(n)])) : {})
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
              disabled={answer.isPending}
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
              disabled={chosen.length === 0 || answer.isPending}
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
          if (text.trim() !== '') answer.mutate({ answer: text })
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
        <button type="submit" disabled={text.trim() === '' || answer.isPending}>
          {answer.isPending ? 'Sending…' : 'Answer'}
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
