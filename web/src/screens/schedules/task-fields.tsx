import { useQuery } from '@tanstack/react-query'
import { asked } from '../../data/asked.ts'
import { Choice, Lines, Text } from '../new-task/fields.tsx'
import type { WrittenSchedule } from './written-schedule.ts'

interface Props {
  readonly written: WrittenSchedule
  change(fields: Partial<WrittenSchedule>): void
}

/** What is to be done each time, by whom, and under which rights. */
export function TaskFields({ written, change }: Props) {
  const agents = useQuery(asked.agents)
  const profiles = useQuery(asked.profiles)
  const known = (names: readonly string[] | undefined, chosen: string) =>
    chosen === '' || names?.includes(chosen) ? (names ?? []) : [chosen, ...(names ?? [])]
  const agentNames = agents.data?.map(({ name }) => name)
  const profileNames = profiles.data?.map(({ name }) => name)
  return (
    <>
      <Lines label="What is to be done" rows={4} value={written.prompt} onChange={(prompt) => change({ prompt })} />
      <Choice label="Agent" value={written.agent} onChange={(agent) => change({ agent })}>
        {written.agent === '' && <option value="">the default one</option>}
        {known(agentNames, written.agent).map((name) => (
          <option key={name}>{name}</option>
        ))}
      </Choice>
      <Text label="Model; empty: that of the agent" value={written.model} onChange={(model) => change({ model })} />
      <Choice label="Profile: what it may see and do" value={written.profile} onChange={(profile) => change({ profile })}>
        {written.profile === '' && <option value="">that of the agent</option>}
        {known(profileNames, written.profile).map((name) => (
          <option key={name}>{name}</option>
        ))}
      </Choice>
      <Text
        label="Workspace, an absolute path; empty: one of its own"
        value={written.workspace}
        onChange={(workspace) => change({ workspace })}
      />
    </>
  )
}
