import { type ChildProcess, spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { ResolvedAgent } from '../../src/domain/agent/agent-config.ts'
import { CrashHome, pause } from './home.ts'
import { until } from './wait.ts'

const lines = 1_000_000
const flood = `
  const lines = '{"text":"line"}\\n'.repeat(1000)
  let left = ${lines / 1_000}
  const go = () => { while (left-- > 0) if (!process.stdout.write(lines)) return process.stdout.once('drain', go) }
  go()
`

test('an agent that prints a million lines on a busy machine keeps nobody from the API and no other agent from its work', {
  timeout: 240_000,
}, async () => {
  const home = new CrashHome()
  onTestFinished(() => home.close())
  // It floods for longer than it would be let.
  writeFileSync(join(home.dir, 'config.yaml'), 'guardrails: { eventsPerSecond: 0 }\n')
  await home.start()
  const client = await home.client()
  const create = async (name: string, command: string[], options = {}) => {
    const agentConfig = ResolvedAgent.parse({
      ...{ name, adapter: 'custom', profile: 'unattended-open', graceMs: 1_000 },
      options: { command, ...options },
    })
    return (await client.createTask({ prompt: name, agentConfig })).task.id
  }
  burn(2 * availableParallelism())
  const ask = async () => {
    const startedAt = performance.now()
    await client.listTasks({ limit: 20 })
    await pause(20)
    return performance.now() - startedAt
  }
  const idle: number[] = []
  for (let times = 0; times < 50; times++) idle.push(await ask())

  const flooding = await create('flood', ['node', '-e', flood], { output: 'jsonl', map: { text: 'text' } })
  const told = async () => (await home.query<{ n: number }>(countOf(flooding)))[0]!.n
  await until('the flood has begun', 60_000, async () => (await told()) > 1_000)
  const calm = await create('calm', ['sh', '-c', 'for i in 1 2 3 4 5 6 7 8; do echo $i; sleep 1; done'])
  const busy: number[] = []
  for (const endsBy = performance.now() + 90_000; performance.now() < endsBy; ) {
    busy.push(await ask())
    if (busy.length % 20 === 0 && (await client.getTask(calm)).state === 'completed') break
  }
  expect((await client.getTask(calm)).state).toBe('completed')
  expect(await told()).toBeGreaterThan(10_000)
  // What all answers wait for on a machine with that many others, and a second: without the bounds requests took ten, and then were refused.
  expect(percentile(busy, 0.95)).toBeLessThan(5 * percentile(idle, 0.95) + 1_000)
  expect(home.log()).not.toMatch(/"reason":"(self_fence|disowned|lease_lost)"/)
  await client.cancelTask(flooding, { now: true })
  await until('the flood has ended', 60_000, async () => (await client.getTask(flooding)).state === 'cancelled')
})

const countOf = (task: string) => `select count(*)::int as n from pawl.events where task_id = '${task}'`

function percentile(all: readonly number[], part: number): number {
  return all.toSorted((a, b) => a - b)[Math.floor(all.length * part)]!
}

/** Others that take all the processor time they can get. */
function burn(count: number): void {
  const burners: ChildProcess[] = Array.from({ length: count }, () =>
    spawn('sh', ['-c', 'while :; do :; done'], { stdio: 'ignore' }),
  )
  onTestFinished(() => {
    for (const burner of burners) burner.kill('SIGKILL')
  })
}
