import { clientSettings } from '../../config/config.ts'
import { findDaemon } from '../../daemon/machine/run-file.ts'
import { PawlError } from '../../domain/error.ts'
import { taskStates } from '../../domain/task/task.ts'
import type { remoteRuntime } from '../connecting/remote.ts'
import type { Cli } from '../terminal/cli.ts'
import { formatTaskState, shortId } from '../text/format.ts'
import { oneLine } from '../text/plain.ts'
import type { Word } from './complete.ts'

type Runtime = ReturnType<typeof remoteRuntime>

/** Somebody holds a key and waits. For the agents the daemon asks each program for its version, which takes some of them most of a second. */
const patienceMs = 1_000

const sources: Record<Source, (runtime: Runtime, current: string) => Promise<Word[]>> = {
  task: async (runtime, current) => {
    const { items } = await runtime.listTasks({ limit: 50 })
    const says = (task: (typeof items)[number]) => `${formatTaskState(task)}: ${oneLine(task.name ?? task.prompt, 50)}`
    const words = items.map((task) => ({ word: idWord(task.id, current), says: says(task) }))
    return [{ word: 'last', says: 'the newest' }, ...words]
  },
  session: async (runtime, current) => {
    const { items } = await runtime.listSessions({ limit: 50 })
    const words = items.map(({ id, agent, workspace }) => ({
      word: idWord(id, current),
      says: `${agent} in ${oneLine(workspace, 50)}`,
    }))
    return [{ word: 'last', says: 'the newest' }, ...words]
  },
  question: async (runtime, current) =>
    (await runtime.listQuestions({ state: 'pending' })).map(({ id, text }) => ({
      word: idWord(id, current),
      says: oneLine(text, 60),
    })),
  schedule: async (runtime, current) =>
    (await runtime.listSchedules()).map(({ id, name, says }) => ({ word: name ?? idWord(id, current), says: oneLine(says, 60) })),
  run: async (runtime, current) =>
    (await runtime.listRecordings()).map(({ run, agent, state }) => ({ word: idWord(run, current), says: `${agent}, ${state}` })),
  agent: async (runtime) => (await runtime.listAgents()).map(({ name, title }) => ({ word: name, says: title })),
  profile: async (runtime) => (await runtime.listProfiles()).map(({ name }) => ({ word: name, says: 'profile' })),
  secret: async (runtime) => (await runtime.listSecrets()).map(({ name }) => ({ word: name, says: 'secret' })),
  state: async () => taskStates.map((word) => ({ word, says: 'state' })),
  to: async (runtime, current) =>
    (await Promise.all((['agent', 'session', 'task'] as const).map((each) => sources[each](runtime, current)))).flat(),
}

export type Source = 'task' | 'session' | 'question' | 'schedule' | 'run' | 'agent' | 'profile' | 'secret' | 'state' | 'to'

/** What the value of an option, or an argument, is one of. */
export function sourceOf(option: string, value: string): Source | undefined {
  const byOption: Record<string, Source> = {
    '--agent': 'agent',
    '--failover': 'agent',
    '--parent': 'task',
    '--depends-on': 'task',
  }
  const named = byOption[option] ?? value
  if (option === '--profile' || option === '--session' || option === '--state') return option.slice(2) as Source
  return Object.hasOwn(sources, named) ? (named as Source) : undefined
}

/** Nothing where no daemon runs, and nothing where it does not answer at once: silence is better than a shell that hangs. */
export async function liveWords(
  cli: Cli,
  source: Source,
  { home, current }: { home: string | undefined; current: string },
): Promise<Word[]> {
  const daemon = await findDaemon((await clientSettings({ cwd: cli.cwd, home })).home)
  if (!daemon) return []
  const { remoteRuntime } = await import('../connecting/remote.ts')
  const runtime = remoteRuntime(daemon)
  const late = new Promise<Word[]>((done) => setTimeout(() => done([]), patienceMs))
  try {
    return await Promise.race([sources[source](runtime, current), late])
  } catch (error) {
    if (error instanceof PawlError) return []
    throw error
  } finally {
    runtime.close()
  }
}

/** The end of an id says it all, unless somebody has begun to write it from its beginning. */
const idWord = (id: string, current: string) => (current !== '' && id.startsWith(current) ? id : shortId(id))
