import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { systemClock as clock } from '../../base/clock.ts'
import { createRedactor } from '../../redact/redactor.ts'
import { start } from '../../sandbox/process/spawn.ts'
import { runCheck } from './run-check.ts'

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
