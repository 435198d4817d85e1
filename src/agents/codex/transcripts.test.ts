import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { makePlace, scripted } from '../../../test/contracts/adapter.ts'
import { launch } from '../../../test/contracts/launch.ts'
import type { AgentEvent } from '../../domain/event/event.ts'
import { addUsage, noUsage } from '../../domain/money/cost.ts'
import type { Command, LaunchSpec, Permission, Verdict } from '../port.ts'
import { codex } from './agent.ts'
import type { CodexOptions } from './options.ts'

/** Recorded with Codex 0.166.0 against a scripted model. */
const folder = fileURLToPath(new URL('transcripts', import.meta.url))
const fakeCodex = fileURLToPath(new URL('../../../test/fake-agent/fake-codex.js', import.meta.url))

interface Case {
  prompts?: string[]
  resume?: string
  permission?: Permission
  abortOn?: AgentEvent['type']
  exit?: number
}

const cases: Record<string, Case> = {
  'app-server-two-turns': { prompts: ['one', 'two'] },
  'app-server-tool-denied': { permission: { allow: false, message: 'no' } },
  'app-server-interrupted': { abortOn: 'agent.tool_called' },
  'app-server-resumed': { resume: '01a1df24-9410-7102-af0b-64db1b92dd7c' },
  'app-server-resume-missing': { resume: '99999999-9999-4999-8999-999999999999' },
  'exec-resumed': { resume: '01a1ddfa-6f90-76b2-916c-aeeeb910a27a' },
  'exec-auth-failure': { exit: 1 },
  'exec-no-key': { exit: 1 },
  'exec-malformed-stream': { exit: 1 },
}

const recorded = readdirSync(folder)
  .filter((name) => name.endsWith('.jsonl') && !name.endsWith('.expected.jsonl'))
  .map((name) => name.replace('.jsonl', ''))

test('every case has a recording', () => {
  expect(recorded).toEqual(expect.arrayContaining(Object.keys(cases)))
})

test.each(recorded)('the recording %s is read as it was', async (name) => {
  const told = await play(readFileSync(join(folder, `${name}.jsonl`), 'utf8'), name)
  const lines = told.map((line) => `${JSON.stringify(line)}\n`).join('')
  await expect(lines).toMatchFileSnapshot(join(folder, `${name}.expected.jsonl`))
})

test.each(recorded)('what %s tells call by call is in the end what the verdict says', async (name) => {
  let sum = noUsage
  for (const one of await play(readFileSync(join(folder, `${name}.jsonl`), 'utf8'), name)) {
    if (one.type === 'agent.usage') sum = addUsage(sum, one.data.usage)
    if (one.type !== 'verdict') continue
    expect(sum).toEqual(one.usage ?? noUsage)
    sum = noUsage
  }
})

test('a newer program may say more: fields and messages that nobody knows change nothing', async () => {
  const name = 'app-server-tool-approved'
  const lines = readFileSync(join(folder, `${name}.jsonl`), 'utf8')
    .trim()
    .split('\n')
  const strange = [
    { dir: 'out', msg: { method: 'thread/dreamt', params: { of: 'sheep' } } },
    { dir: 'out', msg: { method: 'item/completed', params: { item: { type: 'hologram', id: 'h1', size: 3 } } } },
    { dir: 'out', msg: { method: 'error', params: {} } },
    { dir: 'out', msg: { method: 'item/hologram/request', id: 77, params: {} } },
    { dir: 'in', msg: { id: 77 } },
  ]
  const newer = lines.flatMap((line) => {
    const entry = JSON.parse(line)
    if (entry.dir === 'in') return [line]
    const grown = JSON.stringify({ dir: 'out', msg: withNews(entry.msg) })
    return entry.msg.method === 'turn/started' ? [grown, ...strange.map((each) => JSON.stringify(each))] : [grown]
  })
  const told = await play(newer.join('\n'), name)
  const known = told.filter((line) => line.type !== 'agent.unknown')
  expect(known).toEqual(await play(lines.join('\n'), name))
  const unknown = told.flatMap((line) => (line.type === 'agent.unknown' ? [line.data.raw] : [])).join('\n')
  expect(unknown.split('\n')).toEqual(strange.slice(0, 3).map(({ msg }) => JSON.stringify(msg)))
})

const withNews = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(withNews)
    : typeof value === 'object' && value !== null
      ? Object.fromEntries([...Object.entries(value).map(([key, part]) => [key, withNews(part)]), ['aNewField', { x: [1] }]])
      : value

type Told = AgentEvent | ({ type: 'verdict' } & Verdict)

/** All events, and after those of each turn its verdict. */
async function play(recording: string, name: string): Promise<Told[]> {
  const { prompts = ['hello'], resume, permission = { allow: true }, abortOn, exit = 0 } = cases[name] ?? {}
  const place = await makePlace()
  const isExec = name.startsWith('exec-')
  const transport = isExec ? 'exec' : 'app-server'
  const options = codex.options.parse({ transport })
  const spec: LaunchSpec<CodexOptions> = { options, prompt: '', ...place, extraArgs: [], resume }
  const file = join(place.home, 'transcript.jsonl')
  writeFileSync(file, recording)
  const command: Command = isExec
    ? scripted([{ write: recording }, { exit }], place)
    : { file: fakeCodex, args: ['app-server'], env: { FAKE_TRANSCRIPT: file } }
  const child = await launch(command, place)
  onTestFinished(async () => void (await child.stop({ graceMs: 0 })))
  const conversation = await codex.open(child, spec)
  const told: Told[] = []
  for (const prompt of prompts) {
    const stop = new AbortController()
    const verdict = await conversation.turn({
      prompt,
      signal: stop.signal,
      async ask(questions) {
        for (const question of questions) expect(question.text).not.toBe('')
        return undefined
      },
      permit: async () => permission,
      emit(event) {
        told.push(event)
        if (event.type === abortOn) stop.abort()
      },
    })
    // It depends on the day on which it is read.
    const { retryAt, ...rest } = verdict
    told.push({ type: 'verdict', ...rest })
    expect(retryAt !== undefined).toBe(name.endsWith('usage-limit'))
  }
  await conversation.close()
  if (!isExec) expect(await child.exited).toEqual({ code: 0, signal: null })
  return told
}
