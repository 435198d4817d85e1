import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { custom } from '../../agents/custom/agent.ts'
import type { Adapter } from '../../agents/port.ts'
import { createLog } from '../../base/log.ts'
import { ResolvedAgent } from '../../domain/agent/agent-config.ts'
import { explainFailure } from './explain.ts'

const well = 'the program is well now, so it was a passing failure'

test.each([
  ['succeeds', 'echo 1.0', well],
  ['says nothing', 'exit 0', expect.stringContaining('printed nothing')],
  ['fails', 'echo "cannot open the library" >&2; exit 4', expect.stringContaining('cannot open the library')],
  ['says too much', 'head -c 1000000 /dev/zero | tr "\\0" x >&2; exit 4', expect.stringMatching(/^.{1,4096}$/s)],
])('a probe that %s is one line in the log', async (_, script, probed) => {
  expect(await explained(script)).toEqual([{ level: 'info', message: 'why a run may have failed', agent: 'helper', probed }])
})

test('a probe that breaks harms nothing', async () => {
  const broken: Adapter = {
    ...(custom as Adapter),
    probe: () => Promise.reject(new Error('no')),
  }
  expect(await explained('true', broken)).toMatchObject([{ level: 'warn', message: 'a failed run could not be explained' }])
})

/** What the log says after a program with this script was looked at. */
async function explained(script: string, adapter: Adapter = custom as Adapter) {
  const folder = mkdtempSync(join(tmpdir(), 'pawl-explain-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const program = join(folder, 'program')
  writeFileSync(program, `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  const lines: { level: string; message: string; agent: string; probed: string }[] = []
  const log = createLog({ level: 'info', format: 'json', now: Date.now, write: (line) => lines.push(JSON.parse(line)) })
  const options = custom.options.parse({ command: [program], versionArgs: ['--version'] })
  const agent = ResolvedAgent.parse({ name: 'helper', adapter: 'custom', options })
  await explainFailure({ adapter, agent, place: { path: '/usr/bin:/bin' }, log })
  return lines.map(({ level, message, agent, probed }) => ({ level, message, agent, probed }))
}
