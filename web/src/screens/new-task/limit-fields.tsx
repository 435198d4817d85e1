import { useQuery } from '@tanstack/react-query'
import { asked } from '../../data/asked.ts'
import { Choice, type FieldsProps, Text } from './fields.tsx'

/** What it may see and do, and how much it may cost. */
export function LimitFields({ written, change }: FieldsProps) {
  const profiles = useQuery(asked.profiles)
  const models = useQuery(asked.models)
  return (
    <>
      <Choice label="Profile: what it may see and do" value={written.profile} onChange={(profile) => change({ profile })}>
        <option value="">that of the agent</option>
        {profiles.data?.map(({ name }) => (
          <option key={name}>{name}</option>
        ))}
      </Choice>
      <Text label="Model; empty: that of the agent" list="models" value={written.model} onChange={(model) => change({ model })} />
      <datalist id="models">
        {models.data?.map(({ name }) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <Text
        label="Budget in US dollars"
        type="number"
        min="0"
        step="0.01"
        inputMode="decimal"
        value={written.budget}
        onChange={(budget) => change({ budget })}
      />
      <Text
        label="Longest time of one run; 0 for no limit"
        placeholder="30m"
        value={written.timeout}
        onChange={(timeout) => change({ timeout })}
      />
    </>
  )
}
