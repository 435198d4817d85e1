import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { systemClock as clock } from '../../base/clock.ts'
import { createRedactor } from '../../redact/redactor.ts'
import { start } from '../../sandbox/process/spawn.ts'
import { type CheckOptions, runCheck } from './run-check.ts'

it('lines of the two outputs of a check stay whole, and a last one without an end gets one', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'pawl-check-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const file = join(folder, 'output')
  const redactor = createRedactor()
  redactor.add('a key', 'key-0123456789abcdef')
  // In pieces, so that each output pauses in the middle of its lines.
  const command = `for i in $(seq 60); do printf 'out '; printf 'err ' >&2; printf 'end\\n'; printf 'end\\n' >&2; done; printf 'last'; exit 3`
  const ended = await runCheck({
    launch: async ({ file: program, args }) => {
      const child = await start({ file: program, args, env: { PATH: process.env.PATH ?? '' }, cwd: folder })
      return { ...child, stop: () => child.exited }
    },
    ...{ command, timeoutMs: 20_000, signal: new AbortController().signal, clock, redactor, file },
  })
  expect(ended).toMatchObject({ exitCode: 3, why: null })
  const lines = (await readFile(file, 'utf8')).split('\n')
  expect(lines.filter((line) => line === 'out end')).toHaveLength(60)
  expect(lines.filter((line) => line === 'err end')).toHaveLength(60)
  expect(lines.filter((line) => line !== 'out end' && line !== 'err end' && line !== '')).toEqual(['last'])
})

/** Runs a command of which nothing says how long it may take, and that may be quiet for 1.5 s. */
async function unlimited(command: string, changes: Partial<CheckOptions> = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'pawl-check-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const since = performance.now()
  const ended = await runCheck({
    launch: async ({ file, args }) => {
      const child = await start({ file, args, env: { PATH: process.env.PATH ?? '' }, cwd: folder })
      const stop = async () => {
        try {
          process.kill(-child.pid, 'SIGKILL')
        } catch {
          // It has ended by itself.
        }
        return child.exited
      }
      return { ...child, stop }
    },
    ...{ command, timeoutMs: undefined, quietMs: 1_500, signal: new AbortController().signal, clock },
    ...{ redactor: createRedactor(), file: join(folder, 'output'), ...changes },
  })
  return { ...ended, tookMs: performance.now() - since }
}

it('a check without a time of its own that neither prints nor works is ended, and says how to allow it more', async () => {
  const { why, exitCode } = await unlimited('echo begun; sleep 60')
  expect([why, exitCode]).toEqual([
    'it has neither printed anything nor used the CPU for 1.5 s; "timeout" says how long a check may take',
    null,
  ])
})

it('a check without a time of its own may take long while it uses the CPU, or prints', async () => {
  const burn = 'end=$(($(date +%s) + 5)); while [ $(date +%s) -lt $end ]; do for i in {1..20000}; do :; done; done'
  expect(await unlimited(burn)).toMatchObject({ why: null, exitCode: 0 })
  expect(await unlimited('for i in 1 2 3 4; do sleep 0.8; printf .; done')).toMatchObject({ why: null, exitCode: 0 })
})

it('a check that says how long it may take is ended then, whatever it does, and not before', async () => {
  expect(await unlimited('while :; do :; done', { timeoutMs: 2_500 })).toMatchObject({ why: 'it took longer than 2.5 s' })
  expect(await unlimited('sleep 3', { timeoutMs: 20_000 })).toMatchObject({ why: null, exitCode: 0 })
})

it('a check that stands still because its task is held is not ended for that', async () => {
  let looks = 0
  const { why, tookMs } = await unlimited('sleep 60', { isHeld: () => looks++ < 1 })
  expect(why).toContain('neither printed')
  expect(tookMs).toBeGreaterThan(2_900)
})
