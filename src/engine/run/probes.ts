import type { Adapter, AgentHealth, ProbePlace, VersionsKept } from '../../agents/port.ts'
import type { Clock } from '../../base/clock.ts'
import type { ResolvedAgent } from '../../domain/agent/agent-config.ts'
import { fileMark } from '../../sandbox/process/file-mark.ts'

/** How the programs of agents are. Asking one may start it, so a good answer is kept for a while: as long as the program is the same file, if it is known which one that is. */
export type Probe = (
  agent: Pick<ResolvedAgent, 'adapter' | 'options' | 'baseUrl' | 'model'>,
  folder?: string,
) => Promise<AgentHealth>

const keptMs = 10_000
const keptWithFileMs = 600_000

export function createProbes(options: {
  adapterNamed: (name: string) => Adapter
  clock: Clock
  place: Omit<ProbePlace, 'folder'>
}): Probe {
  const { adapterNamed, clock, place } = options
  const versions = keepVersions(clock)
  const known = new Map<string, { health: AgentHealth; file: string | undefined; at: number }>()
  return async (agent, folder) => {
    const key = JSON.stringify([agent.adapter, agent.options, agent.baseUrl, agent.model, folder ?? ''])
    const kept = known.get(key)
    const isSame = kept?.file !== undefined && (await fileMark(kept.health.program)) === kept.file
    if (kept && clock.monotonic() - kept.at < (isSame ? keptWithFileMs : kept.file === undefined ? keptMs : 0)) return kept.health
    const at = clock.monotonic()
    const adapter = adapterNamed(agent.adapter)
    // Whoever asks over the API leaves out what has a default.
    const options = adapter.options.safeParse(agent.options)
    if (!options.success) return unreadable(adapter, options.error.issues)
    const health = await adapter.probe(options.data, {
      ...place,
      versions,
      folder,
      endpoint: agent.baseUrl,
      model: agent.model,
    })
    // On a busy machine one may not answer in time. It is the same file as before: whoever holds it for another would end programs that wait.
    if (!health.healthy && health.version === undefined && isSame) return { ...health, version: kept.health.version }
    if (known.size > 100) known.clear()
    if (health.healthy) known.set(key, { health, file: await fileMark(health.program), at })
    else known.delete(key)
    return health
  }
}

/** Options that another version of Pawl has stored. Nothing is known of the program; what is wrong with them is said by whoever starts it. */
const unreadable = (
  { title }: Adapter,
  issues: readonly { readonly path: readonly PropertyKey[]; readonly message: string }[],
) => ({
  installed: true,
  healthy: false,
  detail: `the options for ${title} are wrong: ${issues.map(({ path, message }) => `${path.join('.') || 'options'}: ${message}`).join('; ')}`,
})

/** One program serves many agents and folders, each of which is asked about apart. */
function keepVersions(clock: Clock): VersionsKept {
  const kept = new Map<string, { version: string; at: number }>()
  return {
    get(file) {
      const found = kept.get(file)
      return found && clock.monotonic() - found.at < keptWithFileMs ? found.version : undefined
    },
    set(file, version) {
      if (kept.size > 100) kept.clear()
      kept.set(file, { version, at: clock.monotonic() })
    },
  }
}
