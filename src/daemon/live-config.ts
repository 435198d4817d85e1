import type { Config } from '../config/config.ts'
import { showConfig } from '../config/show.ts'
import type { SettingEffect } from '../domain/view/settings.ts'

/** Settings that can change while everything runs. Whoever has a block of them keeps it: it is changed in place. */
export interface LiveConfig {
  readonly config: Config
  /** Takes over what can be; the rest waits for the next start. */
  apply(next: Config): void
  /** Rows of what is in force, as `pawl config show` prints them. */
  rows(): ReturnType<typeof showConfig>
}

/** When a change of a setting comes into force. */
export function effectOf(path: string): SettingEffect {
  if (/^limits\.(running|perAgent|maxQueued)\b/.test(path) || /^budget\.(day|month|userDay)$/.test(path)) return 'now'
  return /^(agents|defaultAgent|profiles|retry|timeouts\.(total|idle|grace)|providers|models|mcpServers)\b/.test(path)
    ? 'new tasks'
    : 'restart'
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

export function createLiveConfig(start: Config): LiveConfig {
  const config: Mutable<Config> = {
    ...start,
    agents: [...start.agents],
    limits: { ...start.limits },
    profiles: { ...start.profiles },
    providers: { ...start.providers },
    models: { ...start.models },
    mcpServers: { ...start.mcpServers },
    budget: { ...start.budget },
  }
  return {
    config,
    rows: () => showConfig(config),
    apply(next) {
      ;(config.agents as Config['agents'][number][]).splice(0, config.agents.length, ...next.agents)
      config.defaultAgent = next.defaultAgent
      // They are a part of every agent.
      config.retry = next.retry
      config.timeouts = { ...next.timeouts, warmMs: config.timeouts.warmMs }
      for (const block of ['profiles', 'providers', 'models', 'mcpServers'] as const) replace(config[block], next[block])
      const { running, perAgent, maxQueued } = next.limits
      Object.assign(config.limits, { running, perAgent, maxQueued })
      const { day, month, userDay } = next.budget
      Object.assign(config.budget, { day, month, userDay })
      config.sources = sourcesOf(config.sources, next.sources)
    },
  }
}

function replace(block: Readonly<Record<string, unknown>>, next: Readonly<Record<string, unknown>>): void {
  const open = block as Record<string, unknown>
  for (const key of Object.keys(open)) if (!(key in next)) delete open[key]
  Object.assign(open, next)
}

/** Where what is in force was decided: what waits for a start stays as it was. */
const sourcesOf = (before: Config['sources'], next: Config['sources']): Config['sources'] => ({
  ...Object.fromEntries(Object.entries(before).filter(([path]) => effectOf(path) === 'restart')),
  ...Object.fromEntries(Object.entries(next).filter(([path]) => effectOf(path) !== 'restart')),
})
