import { type FieldsProps, Lines, Text, Tick } from './fields.tsx'

/** How one sees that the work is done. */
export function ProofFields({ written, change }: FieldsProps) {
  return (
    <>
      <Lines
        label="Checks that prove it is done, one command in each line"
        value={written.checks}
        onChange={(checks) => change({ checks })}
      />
      {written.checks.trim() !== '' && (
        <Text
          label="How often the agent may try again after a failed check"
          type="number"
          min="0"
          max="10"
          placeholder="0"
          value={written.checkAttempts}
          onChange={(checkAttempts) => change({ checkAttempts })}
        />
      )}
      <Tick
        label="I look at the work before it counts as done"
        value={written.review}
        onChange={(review) => change({ review })}
      />
    </>
  )
}
