import type { QuestionView } from '../../../src/domain/view.ts'
import styles from './question-box.module.css'
import { visible } from './visible.ts'

/** What the agent wants to do, exactly: a person allows this call and no other. */
export function QuestionCall({ call }: { call: NonNullable<QuestionView['call']> }) {
  if (call.input === undefined) return null
  const { command, rest } = readable(call.input)
  return (
    <details className={styles.call} open={call.input.length < 2_000}>
      <summary>
        What <code>{visible(call.tool)}</code> would be given, word for word
      </summary>
      {command !== undefined && <pre>{visible(command)}</pre>}
      {rest !== undefined && <pre>{visible(rest)}</pre>}
    </details>
  )
}

/** A command is easier to read as it would be typed; whatever else there is stands below it as it is. */
function readable(input: string): { command?: string | undefined; rest?: string | undefined } {
  try {
    const { command, ...others } = JSON.parse(input) as Record<string, unknown>
    if (typeof command !== 'string') return { rest: input }
    return { command, rest: Object.keys(others).length > 0 ? JSON.stringify(others, null, 2) : undefined }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return { rest: input }
  }
}
