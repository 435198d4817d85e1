import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { QuestionView } from '../../../src/domain/view/view.ts'
import { useKeys } from '../app/keys.ts'
import { asked } from '../data/asked.ts'
import { QuestionBox } from '../parts/question-box.tsx'
import { Empty, Shown } from '../parts/states.tsx'
import { AnsweredToday } from './inbox/answered-today.tsx'
import styles from './inbox/inbox.module.css'
import { TellThisBrowser } from './inbox/tell-this-browser.tsx'
import { useCurrent } from './inbox/use-current.ts'

/** Everything that agents ask, each with one key to answer; and what was decided today. */
export default function Inbox() {
  const questions = useQuery(asked.questions)
  return (
    <div className="stack">
      <h1>Inbox</h1>
      <Shown asked={questions}>{(found) => <Questions questions={found} />}</Shown>
      <AnsweredToday />
      <TellThisBrowser />
    </div>
  )
}

function Questions({ questions }: { questions: readonly QuestionView[] }) {
  // The list says so a moment later; until then no key leads back to what is answered.
  const [answered, setAnswered] = useState<ReadonlySet<string>>(new Set())
  const open = questions.filter(({ id }) => !answered.has(id))
  const { current, isChosen, move } = useCurrent(open.map(({ id }) => id))
  const leave = (id: string) => {
    if (id === current) move(1)
    setAnswered((before) => new Set(before).add(id))
  }
  useKeys({ j: () => move(1), k: () => move(-1) })
  if (open.length === 0)
    return (
      <Empty title="No question waits.">
        <p className="faint">When an agent asks something, it stands here until somebody answers.</p>
      </Empty>
    )
  return (
    <>
      <p className={`faint small ${styles.hint}`}>
        <kbd>1</kbd> to <kbd>9</kbd> choose an option of the marked question, <kbd>r</kbd> writes an answer, <kbd>j</kbd> and{' '}
        <kbd>k</kbd> go to the next and the one before.
      </p>
      {open.map((question) => (
        <QuestionBox
          key={question.id}
          question={question}
          linked
          hasKeys={question.id === current}
          isChosen={question.id === current && isChosen}
          onAnswered={() => leave(question.id)}
        />
      ))}
    </>
  )
}
