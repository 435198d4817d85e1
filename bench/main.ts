import { mkdirSync } from 'node:fs'
import { loadavg } from 'node:os'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import type { Benchmark, Figure } from './figure.ts'

const load: Record<string, () => Promise<{ benchmark: Benchmark }>> = {
  splitter: () => import('./splitter.ts'),
  queue: () => import('./queue.ts'),
  admission: () => import('./admission.ts'),
  noop: () => import('./noop.ts'),
  process: () => import('./process.ts'),
  latency: () => import('./latency.ts'),
  drain: () => import('./drain.ts'),
  start: () => import('./start.ts'),
  idle: () => import('./idle.ts'),
  sse: () => import('./sse.ts'),
  'slow-clients': () => import('./slow-clients.ts'),
  'session-archive': () => import('./session-archive.ts'),
  translate: () => import('./translate.ts'),
  redaction: () => import('./redaction.ts'),
  turns: () => import('./turns.ts'),
  memory: () => import('./agent-memory.ts'),
  gateway: () => import('./gateway/gateway.ts'),
  walls: () => import('./walls.ts'),
  'workspace-copy': () => import('./workspace-copy.ts'),
  backup: () => import('./backup.ts'),
  page: () => import('./page.ts'),
  mcp: () => import('./mcp.ts'),
  a2a: () => import('./a2a.ts'),
  'a2a-streams': () => import('./a2a-streams.ts'),
  history: () => import('./history.ts'),
}

const usage = `npm run bench -- [name …] [--json] [--cpu-prof DIR]
Names: ${Object.keys(load).join(', ')}. Every figure stands beside a peer that was measured in the same run.`

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { json: { type: 'boolean' }, 'cpu-prof': { type: 'string' }, help: { type: 'boolean' } },
})
const unknown = positionals.find((name) => !Object.hasOwn(load, name))
if (values.help || unknown !== undefined) {
  process.stderr.write(`${unknown === undefined ? '' : `There is no benchmark "${unknown}".\n`}${usage}\n`)
  process.exit(values.help ? 0 : 2)
}
const profileDir = values['cpu-prof'] === undefined ? undefined : resolve(values['cpu-prof'])
if (profileDir !== undefined) mkdirSync(profileDir, { recursive: true })
const say = (text: string) => void process.stderr.write(`${text}\n`)

const figures: Figure[] = []
let broken = 0
for (const name of positionals.length > 0 ? positionals : Object.keys(load)) {
  const { benchmark } = await load[name]!()
  say(`${name}: ${benchmark.about}`)
  const before = loadavg()[0]!
  try {
    const measured = await benchmark.measure({ profileDir, say: (text) => say(`  ${text}`) })
    figures.push(...measured)
    if (!values.json) print(measured)
  } catch (error) {
    broken++
    say(`${name} broke off: ${error instanceof Error ? error.stack : String(error)}`)
  }
  say(`  load of the machine ${before.toFixed(1)} before, ${loadavg()[0]!.toFixed(1)} after`)
}
if (values.json) process.stdout.write(`${JSON.stringify(figures)}\n`)
const missed = figures.filter((figure) => figure.isMet === false)
say(`${figures.length} figures, ${missed.length} missed, ${broken} benchmarks broke off`)
process.exit(missed.length + broken > 0 ? 1 : 0)

function print(some: readonly Figure[]): void {
  const rows = some.map(({ name, ours, peer, ratio, target, isMet }) => [
    name,
    ours,
    peer,
    ratio === undefined ? '' : `${ratio.toFixed(2)}x`,
    target,
    isMet === undefined ? '' : isMet ? 'met' : 'MISSED',
  ])
  const head = ['name', 'ours', 'peer', 'ratio', 'target', 'verdict']
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]!.length)))
  for (const row of [head, ...rows]) {
    process.stdout.write(
      `${row
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join('  ')
        .trimEnd()}\n`,
    )
  }
}
