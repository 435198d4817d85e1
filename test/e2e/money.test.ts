import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { CostView } from '../../src/domain/money/cost-view.ts'
import type { TaskView } from '../../src/domain/view/view.ts'
import { makeHome } from '../engine/ready-database.ts'
import { json, pawl, serve } from './pawl.ts'

let home: Awaited<ReturnType<typeof makeHome>>
const run = (...args: string[]) => pawl(home.path, args, { cwd: join(home.path, 'project') })
beforeAll(async () => {
  home = await makeHome()
  await mkdir(join(home.path, 'project'))
  const spends = `echo '{"text":"one","cost":0.75,"in":10}'; sleep 3; echo '{"text":"two","cost":0.75,"in":10}'`
  const counts = `echo '{"text":"counted","in":1000,"out":100}'`
  const map = { text: 'text', costUsd: 'cost', inputTokens: 'in', outputTokens: 'out' }
  const agent = (script: string) => ({ adapter: 'custom', command: ['sh', '-c', script], output: 'jsonl', map })
  const agents = {
    spender: { ...agent(spends), budget: { usd: 0.5 } },
    counter: { ...agent(counts), model: 'odd-model', modelFlag: '--model' },
  }
  const claude = { adapter: 'claude-code', model: 'claude-sonnet-4-5', command: join(home.path, 'claude') }
  await writeFile(claude.command, '#!/bin/sh\n[ "$1" != --version ] || echo "2.1.325 (Claude Code)"\n', { mode: 0o755 })
  await writeFile(join(home.path, 'config.yaml'), JSON.stringify({ agents: { ...agents, claude }, budget: { day: 100 } }))
  await serve(home.path, { env: { ANTHROPIC_API_KEY: 'key-0123456789' } })
})
afterAll(async () => {
  await pawl(home.path, ['stop'])
  await home.remove()
})

it('a run over its budget ends the command with 4 and says how to go on, and its cost is shown', async () => {
  const ended = await run('run', '--agent', 'spender', 'go')
  expect(ended.code).toBe(4)
  expect(ended.stderr).toMatch(
    /has used \$0\.75 .* its budget is \$0\.50\. Go on with a larger one: pawl task retry \S+ --budget-usd 2/,
  )
  expect(ended.stderr).toContain('over budget')

  const shown = await run('show', 'last', '--json')
  const task = json<TaskView>(shown)
  expect(task).toMatchObject({ state: 'over_budget', cost: { usd: 0.75, totalUsd: 0.75, known: 'reported' } })
  expect((await run('task', 'retry', 'last', '--budget-usd', '2')).code).toBe(0)
  const waited = await run('wait', 'last')
  expect(waited.code).toBe(0)

  const costs = json<CostView>(await run('costs', '--json'))
  expect(costs).toMatchObject({
    by: 'agent',
    caps: { dayUsd: 100 },
    total: { usd: 1.5 },
    items: [{ key: 'spender', usd: 1.5, known: 'reported' }],
  })
  expect((await run('ls')).stdout).toMatch(/COST[\s\S]*\$1\.50/)
}, 120_000)

it('a budget that is too small to begin is told of when the task is handed in, with one that would do', async () => {
  const warning =
    /The first request of claude-sonnet-4-5 can cost about \$0\.\d\d, and \$0\.010 may be spent: .* Use --budget-usd 0\.\d\d or more\./
  expect((await run('task', 'add', '--agent', 'claude', '--budget-usd', '0.01', 'go')).stderr).toMatch(warning)
  expect((await run('run', '--agent', 'claude', '--budget-usd', '0.01', 'go')).stderr).toMatch(warning)
  expect((await run('task', 'add', '--agent', 'claude', '--budget-usd', '1', 'go')).stderr).not.toMatch(warning)
})

it('what has no known price is named, and times are read as people write them', async () => {
  expect((await run('run', '--agent', 'counter', 'go')).code).toBe(0)
  const costs = await run('costs', '--since', '2d', '--by', 'model')
  expect(costs.stdout).toMatch(/odd-model +unknown +1000 +0 +100/)
  expect(costs.stderr).toContain('Of unknown price, and counted as the dearest commonly used: odd-model.')
  expect((await run('costs', '--since', 'yesterday')).stderr).toContain('--since must be how long ago')
  const later = await run('costs', '--since', '2020-01-01', '--until', '2020-02-01')
  expect(later).toMatchObject({ code: 0, stdout: '' })
}, 120_000)
