import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import { formatTime } from '../../../../src/cli/text/format.ts'
import type { QuestionView } from '../../../../src/domain/view/view.ts'
import { asked } from '../../data/asked.ts'
import styles from './inbox.module.css'

/** What was decided today, or was not decided in time: the last one first. */
export function AnsweredToday() {
  const since = useMemo(() => {
    const today = new Date()
    today.setHours(0, 0, 0, 0)
    return today.toISOString()
  }, [])
  const { data } = useQuery(asked.questionsSince(since))
  const over = (data ?? [])
    .filter(({ state }) => state !== 'pending')
    .sort((one, other) => endOf(other).localeCompare(endOf(one)))
  if (over.length === 0) return null
  return (
    <section className="stack" aria-labelledby="answered">
      <h2 id="answered">Today</h2>
      <ul className={`card lines ${styles.answered}`}>
        {over.slice(0, 100).map((question) => (
          <li key={question.id}>
            <time className="faint small" dateTime={endOf(question)}>
              {formatTime(endOf(question))}
            </time>
            <Link to="/tasks/$task" params={{ task: question.task }} className="one-line">
              {question.text.replaceAll(/\s+/g, ' ')}
            </Link>
            <span className={styles.outcome}>{outcomeOf(question)}</span>
          </li>
        ))}
      </ul>
    </section>
  )
}

const endOf = ({ answeredAt, deadline, askedAt }: QuestionView) => answeredAt ?? deadline ?? askedAt

function outcomeOf({ state, answer, answeredBy }: QuestionView) {
  if (state === 'expired') return <em>nobody answered in time</em>
  if (state === 'cancelled') return <em>not needed any more</em>
  return (
    <>
      {answer} <span className="faint small">by {answeredBy === 'deadline' ? 'its deadline' : answeredBy}</span>
    </>
  )
}
