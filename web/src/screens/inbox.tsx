import { useQuery } from '@tanstack/react-query'
import type { QuestionView } from '../../../src/domain/view.ts'
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
  const { current, isChosen, move } = useCurrent(questions.map(({ id }) => id))
  useKeys({ j: () => move(1), k: () => move(-1) })
  if (questions.length === 0)
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
      {questions.map((question) => (
        <QuestionBox
          key={question.id}
          question={question}
          linked
          hasKeys={question.id === current}
          isChosen={question.id === current && isChosen}
          onAnswered={() => question.id === current && move(1)}
        />
      ))}
    </>
  )
}
