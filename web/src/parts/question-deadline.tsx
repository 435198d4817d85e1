import type { QuestionView } from '../../../src/domain/view/view.ts'
import { Countdown } from './time.tsx'

/** Until when it can be answered, and what happens then. */
export function QuestionDeadline({ question }: { question: QuestionView }) {
  const { deadline, afterDeadline, escalatedTo } = question
  if (!deadline) return <span>waits as long as it takes</span>
  const then = afterDeadline && whatThen(afterDeadline)
  return (
    <span>
      answer within <Countdown to={deadline} />
      {then && <>; then {then}</>}
      {escalatedTo && <>; another agent is asked as well</>}
    </span>
  )
}

function whatThen(after: NonNullable<QuestionView['afterDeadline']>): string {
  switch (after.kind) {
    case 'deny':
      return 'it counts as no'
    case 'fail':
      return 'its task fails'
    case 'proceed':
      return `it goes on with “${after.answer}”`
    case 'escalate':
      return `${after.agent ?? after.webhook} is asked`
  }
}
