import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import { launch } from '../../../test/contracts/launch.ts'
import { claudeCode } from '../../agents/claude-code/agent.ts'
import { systemClock } from '../../base/clock.ts'
import { createLog } from '../../base/log.ts'
import { Watch } from '../base/watch.ts'
import { createLiveAgent, type LiveAgent } from './live-agent.ts'
import { recordChild } from './raw-log.ts'
import { createWarm } from './warm.ts'

const command = fileURLToPath(new URL('../../../test/fake-agent/fake-claude.js', import.meta.url))
const speaks = { line: { type: 'assistant', message: { content: [{ type: 'text', text: 'tick' }] } } }

test('a program that goes to work by itself while no run is under way is ended, and serves no other', async () => {
  const { agent, serve, folder } = await start()
  const log = createLog({ level: 'error', format: 'json', now: Date.now, write() {} })
  const warm = createWarm({ clock: systemClock, log, most: 1, idleMs: 60_000 })
  onTestFinished(() => warm.stop())
  const now = join(folder, 'now')
  const verdict = await serve([{ later: [{ until: now }, { stay: true }, speaks] }, { say: 'done' }])
  expect(verdict).toMatchObject({ outcome: 'succeeded', text: 'done', mayGoOn: true })
  warm.keep({ session: 's', agentName: 'fake', agent, likeness: {} })
  const gone = new Promise<void>((done) => agent.onEnd(done))
  writeFileSync(now, '')
  await gone
  expect(agent.hasEnded()).toBe(true)
  expect(await warm.take('s', {})).toBeUndefined()
})

test('one that goes on after the end of its turn is not fit for the next', async () => {
  const { serve } = await start()
  const result = {
    type: 'result',
    subtype: 'success',
    is_error: false,
    result: 'x',
    session_id: 's',
    num_turns: 1,
    total_cost_usd: 0,
  }
  expect(await serve([{ lines: [result, speaks.line] }, { hang: true }])).toMatchObject({ outcome: 'succeeded', mayGoOn: false })
})

describe('a program that was frozen', () => {
  test('serves the next run, whatever it says that is due and no work', async () => {
    const { agent, serve, folder } = await start()
    const now = join(folder, 'now')
    await serve([{ later: [{ until: now }, { line: { type: 'keep_alive' } }] }, { say: 'done' }])
    expect(await agent.freeze()).toBe(true)
    writeFileSync(now, '')
    await pause(300)
    expect(await serve([{ say: 'again' }])).toMatchObject({ outcome: 'succeeded', text: 'again', mayGoOn: true })
  })

  test('serves nobody if it goes to work by itself as soon as it can', async () => {
    const { agent, serve, folder } = await start()
    const now = join(folder, 'now')
    await serve([{ later: [{ until: now }, { stay: true }, speaks] }, { say: 'done' }])
    expect(await agent.freeze()).toBe(true)
    writeFileSync(now, '')
    await pause(300)
    expect(agent.hasEnded()).toBe(false)
    expect(await serve([{ say: 'again' }])).toMatchObject({ outcome: 'failed', category: 'crashed', mayGoOn: false })
  })

  test('is killed without being asked: it could not answer', async () => {
    const { agent, serve } = await start()
    await serve([{ say: 'done' }])
    expect(await agent.freeze()).toBe(true)
    const began = performance.now()
    expect(await agent.end(60_000)).toMatchObject({ signal: 'SIGKILL' })
    expect(performance.now() - began).toBeLessThan(1_000)
  })
})

async function start() {
  const folder = mkdtempSync(join(tmpdir(), 'pawl-live-'))
  const place = { workspace: folder, home: folder }
  const spec = { options: claudeCode.options.parse({ command }), prompt: '', ...place, extraArgs: [] }
  const child = await launch(claudeCode.command(spec), place)
  const recorded = recordChild(child)
  const freezer = {
    freeze: async () => process.kill(-child.pid, 'SIGSTOP'),
    async thaw() {
      process.kill(-child.pid, 'SIGCONT')
      await pause(100)
    },
    isCovered: () => true,
  }
  const agent: LiveAgent = createLiveAgent({
    walled: { child, isAlone: () => true, freezer },
    conversation: await claudeCode.open(recorded.child, spec),
    recorded,
    door: undefined,
    unit: { kind: 'process_group', marker: 'live', enforced: false },
    environment: {},
    access: { access: { kind: 'none' }, variables: {}, secrets: () => [], returnLogin: async () => {}, close: async () => {} },
    clock: systemClock,
  })
  onTestFinished(async () => {
    await agent.end(0)
    rmSync(folder, { recursive: true, force: true })
  })
  const serve = (steps: object[]) => {
    const watch = new Watch(systemClock, { totalMs: null, idleMs: null })
    const turn = {
      prompt: JSON.stringify(steps),
      signal: watch.signal,
      ask: async () => undefined,
      permit: async () => ({ allow: true }) as const,
      emit: () => {},
    }
    const nobody = { ask: async () => ({ id: 'q' }), consult: async () => undefined, notify: async () => {} }
    const door = { describe: () => ({ task: 't', run: 'r', attempt: 1 }), ...nobody }
    return agent.serve({ turn, watch, graceMs: 100, records: { directory: folder, onLimit() {} }, door })
  }
  return { agent, serve, folder }
}
