import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { makePlace, scripted } from '../../../test/contracts/adapter.ts'
import { launch } from '../../../test/contracts/launch.ts'
import type { AgentEvent } from '../../domain/event/event.ts'
import type { Command, LaunchSpec, Permission, PermissionRequest, Verdict } from '../port.ts'
import { opencode } from './agent.ts'
import type { OpencodeOptions } from './options.ts'

/** Recorded with opencode 1.18.33 against a scripted model. */
const folder = fileURLToPath(new URL('transcripts', import.meta.url))
const fakeOpencode = fileURLToPath(new URL('../../../test/fake-agent/fake-opencode.js', import.meta.url))

interface Case {
  prompts?: string[]
  resume?: string
  permission?: Permission
  abortOn?: AgentEvent['type']
  exit?: number
}

const cases: Record<string, Case> = {
  'acp-two-turns': { prompts: ['one', 'two'] },
  'acp-tool-denied': { permission: { allow: false, message: 'no' } },
  'acp-cancelled': { abortOn: 'agent.tool_called' },
  'acp-resumed': { resume: 'ses_e1ddd33ebffeIA8TPc0QmeYoJW', prompts: ['three'] },
  'acp-resume-missing': { resume: 'ses_doesnotexist000000000000' },
  'run-auth-failure': { exit: 1 },
}

const recorded = readdirSync(folder)
  .filter((name) => name.endsWith('.jsonl') && !name.endsWith('.expected.jsonl'))
  .map((name) => name.replace('.jsonl', ''))

test('every case has a recording', () => {
  expect(recorded).toEqual(expect.arrayContaining(Object.keys(cases)))
})

test.each(recorded)('the recording %s is read as it was', async (name) => {
  const { told } = await play(readFileSync(join(folder, `${name}.jsonl`), 'utf8'), name)
  const lines = told.map((line) => `${JSON.stringify(line)}\n`).join('')
  await expect(lines).toMatchFileSnapshot(join(folder, `${name}.expected.jsonl`))
})

test('a tool is asked about under its own name, with what it is about', async () => {
  const asked = async (name: string) => (await play(readFileSync(join(folder, `${name}.jsonl`), 'utf8'), name)).asked
  expect(await asked('acp-tool-asked')).toMatchObject([
    { tool: 'bash', input: { command: expect.stringContaining('scripted-tool') } },
  ])
  expect(await asked('acp-write-asked')).toMatchObject([{ tool: 'write', input: { filePath: '/workspace/written.txt' } }])
})

test('a newer program may say more: fields and messages that nobody knows change nothing', async () => {
  const name = 'acp-tool-asked'
  const lines = readFileSync(join(folder, `${name}.jsonl`), 'utf8')
    .trim()
    .split('\n')
  const strange = {
    dir: 'out',
    msg: { method: 'session/update', params: { sessionId: 'x', update: { sessionUpdate: 'dreamt' } } },
  }
  const grown = lines.flatMap((line) => {
    const entry = JSON.parse(line)
    if (entry.dir === 'in' || entry.msg.method !== 'session/update') return [line]
    const { update, ...params } = entry.msg.params
    const news = { ...params, aNewField: 1, update: { ...update, another: { x: [1] } } }
    const dream = { ...strange.msg, params: { ...strange.msg.params, sessionId: params.sessionId } }
    return [JSON.stringify({ dir: 'out', msg: { ...entry.msg, params: news } }), JSON.stringify({ dir: 'out', msg: dream })]
  })
  const { told } = await play(grown.join('\n'), name)
  const known = told.filter((line) => line.type !== 'agent.unknown')
  expect(known).toEqual((await play(lines.join('\n'), name)).told)
  expect(told.length).toBeGreaterThan(known.length)
})

type Told = AgentEvent | ({ type: 'verdict' } & Verdict)

/** All events, and after those of each turn its verdict; and what was asked. */
async function play(recording: string, name: string): Promise<{ told: Told[]; asked: PermissionRequest[] }> {
  const { prompts = ['go'], resume, permission = { allow: true }, abortOn, exit = 0 } = cases[name] ?? {}
  const place = await makePlace()
  const isRun = name.startsWith('run-')
  const options = opencode.options.parse({ transport: isRun ? 'run' : 'acp' })
  const spec: LaunchSpec<OpencodeOptions> = { options, prompt: '', ...place, extraArgs: [], resume }
  const file = join(place.home, 'transcript.jsonl')
  writeFileSync(file, recording)
  const command: Command = isRun
    ? scripted([{ write: recording }, { exit }], place)
    : { file: fakeOpencode, args: ['acp'], env: { FAKE_TRANSCRIPT: file } }
  const child = await launch(command, place)
  onTestFinished(async () => void (await child.stop({ graceMs: 0 })))
  const conversation = await opencode.open(child, spec)
  const told: Told[] = []
  const asked: PermissionRequest[] = []
  for (const prompt of prompts) {
    const stop = new AbortController()
    const verdict = await conversation.turn({
      prompt,
      signal: stop.signal,
      ask: async () => undefined,
      async permit(request) {
        asked.push(request)
        return permission
      },
      emit(event) {
        told.push(event)
        if (event.type === abortOn) stop.abort()
      },
    })
    told.push({ type: 'verdict', ...verdict })
  }
  await conversation.close()
  return { told, asked }
}
