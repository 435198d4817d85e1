import { Choice, type FieldsProps, Text } from './fields.tsx'
import type { Written } from './written.ts'

/** What becomes of questions that nobody answers. */
export function QuestionFields({ written, change }: FieldsProps) {
  return (
    <>
      <Text
        label="Its questions wait so long; empty: as the settings say"
        placeholder="2h"
        value={written.answerWithin}
        onChange={(answerWithin) => change({ answerWithin })}
      />
      {written.answerWithin.trim() !== '' && (
        <>
          <Choice<Written['unanswered']>
            label="If nobody answers by then"
            value={written.unanswered}
            onChange={(unanswered) => change({ unanswered })}
          >
            <option value="deny">it counts as no</option>
            <option value="fail">the task fails</option>
            <option value="proceed">it goes on with an answer</option>
          </Choice>
          {written.unanswered === 'proceed' && (
            <Text
              label="The answer"
              placeholder="Go on."
              value={written.proceedWith}
              onChange={(proceedWith) => change({ proceedWith })}
            />
          )}
        </>
      )}
    </>
  )
}
