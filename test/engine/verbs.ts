import { adapterNamed } from '../../src/agents/index.ts'
import { systemClock } from '../../src/base/clock.ts'
import type { ResolvedAgent } from '../../src/domain/agent/agent-config.ts'
import { createPrices } from '../../src/domain/money/prices.ts'
import { defaultQuestions } from '../../src/domain/question/settings.ts'
import type { Outcome } from '../../src/domain/run/outcome.ts'
import type { NewTask } from '../../src/domain/view/view.ts'
import { createAudit } from '../../src/engine/auth/audit.ts'
import { taskVerbs } from '../../src/operations/tasks/tasks.ts'
import { findTask } from '../../src/store/tasks.ts'
import { commandAgent } from './home.ts'
import { makeParts } from './store.ts'

const way = { kind: 'webhook' as const, url: 'https://ops.example', secret: { env: 'OPS' }, allowPrivate: false }
const ops = { name: 'ops', events: [], attempts: 1, way }

/** The verbs of tasks over a real store, with nobody who runs anything: a test itself is the worker. */
export async function makeVerbs(
  options: {
    agents?: readonly ResolvedAgent[]
    mayAnswer?: readonly string[]
    onEnd?: (close: () => Promise<void>) => void
    /** As of a command that only looks. */
    runsNothing?: boolean
  } = {},
) {
  const parts = await makeParts(options.onEnd)
  const { db, journal, bus, log, home } = parts
  const clock = systemClock
  const agents = options.agents ?? [commandAgent(['true'])]
  const audit = createAudit({ db, clock, log })
  const verbs = taskVerbs({
    ...{ db, journal, bus, clock, audit, agents, home: home.path, adapterNamed },
    notifications: [ops],
    questions: { ...defaultQuestions, mayAnswer: options.mayAnswer },
    defaultAgent: async () => agents[0]!.name,
    probe: async () => ({ installed: true, healthy: true, detail: 'ok' }),
    prices: createPrices({}, {}),
    environment: () => ({}),
    boundTo: null,
    runsNothing: options.runsNothing,
    maxQueued: 100_000,
    sharedWorkspaces: [],
    assertRoom: async () => undefined,
  })
  const worker = await parts.addWorker()
  const caller = { by: 'test' }
  const add = async (task: Partial<NewTask> = {}) => (await verbs.createTask({ prompt: 'x', ...task }, caller)).task
  const stateOf = async (id: string) => (await findTask(db, id))?.state

  /** Has a queued task run to this end. */
  const end = async (id: string, outcome: Outcome, category?: 'exit_code') => {
    const run = await begin(id)
    return finish(run, outcome, category)
  }
  const begin = async (id: string) => {
    const task = (await findTask(db, id))!
    const run = await parts.admit({ id, session: task.session_id }, task.fence + 1, worker)
    await parts.lease(run, worker)
    return run
  }
  const finish = (run: Awaited<ReturnType<typeof begin>>, outcome: Outcome, category?: 'exit_code') =>
    parts.settler.settleRun(run, { outcome, text: 'done', ...(category ? { category, message: 'It broke.' } : {}) })
  return { ...parts, verbs, caller, worker, add, stateOf, end, begin, finish }
}
