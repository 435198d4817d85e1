import { abilityWords } from '../../domain/agent/abilities.ts'
import type { AgentView } from '../../domain/view/view.ts'
import { oneLine } from './plain.ts'

/** Everything about one agent, a line for each fact. `address` is where others reach it. */
export function agentPage(agent: AgentView, address: string | undefined): string[] {
  const { health, tried, login } = agent
  const rows: (readonly [string, string])[] = [
    ['agent', `${agent.name}${agent.isDefault ? ' (used when no agent is named)' : ''}`],
    ['program', agent.title],
    ['adapter', agent.adapter],
    ['from', agent.source],
    ['profile', agent.profile],
    ['model', agent.model ?? "the program's own choice"],
    ['state', `${health.healthy ? 'ok' : health.installed ? 'not ready' : 'not installed'}: ${health.detail}`],
    ['version', health.version ?? 'unknown'],
    [
      'tried',
      agent.isOurs ? 'part of Pawl' : tried ? `${tried.from} to ${tried.to}` : 'untried: no real one was run in the tests',
    ],
    ...(health.warning === null ? [] : [['warning', health.warning] as const]),
    ...(health.fix === null ? [] : [['to do', health.fix] as const]),
    ...(agent.install === null ? [] : [['install', agent.install] as const]),
    ['logged in', loginWords[String(health.loggedIn) as keyof typeof loginWords]],
    ...some('key', login?.variables ?? []),
    ...some('login file', login?.files ?? []),
    ...some('talks to', agent.hosts),
    ...some('A2A address', address === undefined ? [] : [address]),
    ...abilityRows(agent.can),
    ...some('own tools', agent.tools),
    ...some('obeys', agent.obeys),
    ...(agent.sessionFiles.length > 0
      ? some('conversation', agent.sessionFiles)
      : [
          [
            'conversation',
            agent.can.includes('resume') ? 'kept by the agent itself' : 'none is kept: each task begins anew',
          ] as const,
        ]),
  ]
  return rows.map(([label, value]) => `${label.padEnd(14)}${oneLine(value)}`)
}

const some = (label: string, values: readonly string[]) => (values.length === 0 ? [] : [[label, values.join(', ')] as const])

/** A daemon of a newer version may know more. */
const abilityRows = (can: readonly string[]) => [
  ...can.map((name) => ['can', `${name}: ${(abilityWords as Record<string, string>)[name] ?? ''}`] as const),
  ...some(
    'cannot',
    Object.keys(abilityWords).filter((name) => !can.includes(name)),
  ),
]

const loginWords = { true: 'yes', false: 'no', null: 'it needs no login, or nobody can tell from here' }
