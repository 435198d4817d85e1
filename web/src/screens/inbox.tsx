import { useQuery } from '@tanstack/react-query'
import { asked } from '../data/asked.ts'
import { QuestionBox } from '../parts/question-box.tsx'
import { Empty, Shown } from '../parts/states.tsx'

/** Everything that agents ask, each with one key to answer. */
export default function Inbox() {
  const questions = useQuery(asked.questions)
  return (
    <div className="stack">
      <h1>Inbox</h1>
      <Shown asked={questions}>
        {(found) =>
          found.length === 0 ? (
            <Empty title="No question waits.">
              <p className="faint">When an agent asks something, it stands here until somebody answers.</p>
            </Empty>
          ) : (
            <>
              <p className="faint small">
                The keys <kbd>1</kbd> to <kbd>9</kbd> choose an option of the first question.
              </p>
              {found.map((question, n) => (
                <QuestionBox key={question.id} question={question} linked hasKeys={n === 0} />
              ))}
            </>
          )
        }
      </Shown>
    </div>
  )
}
