import type { QuestionView } from '../../../src/domain/view/view.ts'
import { drawn } from '../drawn/drawn.ts'
import styles from './question-box.module.css'

/** A person decides about it word for word. */
const exactly = { exactly: true }

/** What the agent wants to do, exactly: a person allows this call and no other. */
export function QuestionCall({ call }: { call: NonNullable<QuestionView['call']> }) {
  if (call.input === undefined) return null
  const { command, rest } = readable(call.input)
  return (
    <details className={styles.call} open>
      <summary>
        What <code>{drawn(call.tool, exactly)}</code> would be given, word for word
      </summary>
      {[command, rest].map((text) => text !== undefined && <Whole key={text} text={text} />)}
    </details>
  )
}

function Whole({ text }: { text: string }) {
  const lines = text.split('\n').length
  const isLong = lines > 12 || text.length > 1_000
  return (
    <>
      <pre tabIndex={isLong ? 0 : undefined}>{drawn(text, exactly)}</pre>
      {isLong && (
        <p className="small faint">
          {lines.toLocaleString()} {lines === 1 ? 'line' : 'lines'}, {text.length.toLocaleString()} characters: scroll to read all
          of it.
        </p>
      )}
    </>
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
