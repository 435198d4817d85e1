import { didYouMean } from '../domain/base/nearest.ts'
import type { Problem } from './problems.ts'
import { FileSettings } from './schema.ts'

export type Env = Readonly<Record<string, string | undefined>>

export interface Failpoint {
  readonly name: string
  readonly action: string
  readonly skip: number
}

/** What the environment says, apart from PAWL_HOME, which decides where the rest is read. */
export interface EnvironmentSettings {
  readonly settings: FileSettings
  readonly trust: boolean
  readonly failpoints: readonly Failpoint[]
  readonly noColor: boolean
  readonly problems: readonly Problem[]
}

/** Variable → the setting it stands for; the schema of the files checks its value. */
export const variables = {
  PAWL_PORT: ['server', 'port'],
  PAWL_HOST: ['server', 'host'],
  PAWL_DATABASE_URL: ['database', 'url'],
  PAWL_LOG_LEVEL: ['log', 'level'],
  PAWL_AGENT: ['defaultAgent'],
} as const satisfies Record<string, readonly string[]>

const known = [...Object.keys(variables), 'PAWL_HOME', 'PAWL_CONFIG', 'PAWL_TRUST', 'PAWL_FAILPOINT']

/** Set by Pawl inside a run, where Pawl may be called again: they say nothing about settings. */
const ofRuns = [
  'PAWL_DOOR_URL',
  'PAWL_DOOR_TOKEN',
  'PAWL_API_URL',
  'PAWL_API_TOKEN',
  'PAWL_TASK_ID',
  'PAWL_RUN_ID',
  'PAWL_KILL_UNIT',
  'PAWL_QUESTION_FILE',
  'PAWL_MOUNTS',
]

export function readEnvironment(env: Env): EnvironmentSettings {
  const problems: Problem[] = []
  const wrong = (sentence: string) => problems.push({ path: [], sentence: () => sentence })

  for (const name of Object.keys(env))
    if (name.startsWith('PAWL_') && !known.includes(name) && !ofRuns.includes(name))
      wrong(`Unknown variable ${name} in the environment${didYouMean(name, known)}`)

  let settings: FileSettings = {}
  for (const [name, path] of Object.entries(variables)) {
    const value = env[name]
    if (value === undefined || value === '') continue
    const plain = name === 'PAWL_PORT' && /^\d+$/.test(value) ? Number(value) : value
    const [block, key] = path as readonly [string, string?]
    const parsed = FileSettings.safeParse({ [block]: key === undefined ? plain : { [key]: plain } })
    if (!parsed.success) wrong(`${name} in the environment ${expectation[name as keyof typeof variables]}.`)
    else settings = { ...settings, [block]: key === undefined ? plain : { ...(settings[block as 'server'] ?? {}), [key]: plain } }
  }

  const trust = env.PAWL_TRUST ?? ''
  if (!/^(1|true|0|false|)$/.test(trust)) wrong('PAWL_TRUST in the environment must be 1 or 0.')

  const failpoints: Failpoint[] = []
  for (const written of (env.PAWL_FAILPOINT ?? '').split(',').filter((part) => part !== '')) {
    const match = /^([^=]+)=([^:]+)(?::(\d+))?$/.exec(written)
    if (match) failpoints.push({ name: match[1]!, action: match[2]!, skip: Number(match[3] ?? 0) })
    else wrong('PAWL_FAILPOINT in the environment must be written name=action or name=action:skip.')
  }
  return { settings, trust: trust === '1' || trust === 'true', failpoints, noColor: (env.NO_COLOR ?? '') !== '', problems }
}

const expectation = {
  PAWL_PORT: 'must be a port between 0 and 65535',
  PAWL_HOST: 'must be a host name or address',
  PAWL_DATABASE_URL: 'must be a postgres:// URL',
  PAWL_LOG_LEVEL: 'must be one of debug, info, warn, error',
  PAWL_AGENT: 'must be the name of an agent',
} satisfies Record<keyof typeof variables, string>
