import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { makePlace, type Step, scripted } from '../../../test/contracts/adapter.ts'
import { launch } from '../../../test/contracts/launch.ts'
import type { AgentEvent } from '../../domain/event/event.ts'
import { addUsage, noUsage } from '../../domain/money/cost.ts'
import type { Command, LaunchSpec, Permission, Verdict } from '../port.ts'
import { geminiCli } from './agent.ts'
import type { GeminiCliOptions } from './options.ts'

const folder = fileURLToPath(new URL('transcripts', import.meta.url))
const fakeGemini = fileURLToPath(new URL('../../../test/fake-agent/fake-gemini.js', import.meta.url))

const cases: Record<string, { prompts?: string[]; permission?: Permission; abortOn?: AgentEvent['type'] }> = {
  'acp-two-turns': { prompts: ['one', 'two'] },
  'acp-tool-denied': { permission: { allow: false, message: 'no' } },
  'acp-cancelled': { abortOn: 'agent.tool_called' },
}

const recorded = readdirSync(folder)
  .filter((name) => name.endsWith('.jsonl') && !name.endsWith('.expected.jsonl'))
  .map((name) => name.replace('.jsonl', ''))
const linesOf = (name: string) =>
  readFileSync(join(folder, `${name}.jsonl`), 'utf8')
    .trimEnd()
    .split('\n')

test.each(recorded)('the recording %s is read as it was', async (name) => {
  const lines = (await play(linesOf(name), name)).map((line) => `${JSON.stringify(line)}\n`).join('')
  await expect(lines).toMatchFileSnapshot(join(folder, `${name}.expected.jsonl`))
})

test.each(recorded)('what %s tells of usage is in the end what the verdict says', async (name) => {
  let sum = noUsage
  for (const one of await play(linesOf(name), name)) {
    if (one.type === 'agent.usage') sum = addUsage(sum, one.data.usage)
    if (one.type !== 'verdict') continue
    expect(sum).toEqual(one.usage ?? noUsage)
    sum = noUsage
  }
})

test('a newer program may say more: fields and lines that nobody knows change nothing', async () => {
  const name = 'one-shot-tool'
  const grown = linesOf(name).flatMap((line) => {
    const entry = JSON.parse(line)
    if (entry.stdout === undefined) return [line]
    const stdout = JSON.stringify({ ...JSON.parse(entry.stdout), aNewField: { x: [1] } })
    return [JSON.stringify({ stdout }), JSON.stringify({ stdout: '{"type":"dream","of":"sheep"}' })]
  })
  const told = await play(grown, name)
  expect(told.filter(({ type }) => type === 'agent.unknown').length).toBeGreaterThan(0)
  const known = told.filter(({ type }) => type !== 'agent.unknown')
  expect(textOf(known)).toEqual(textOf(await play(linesOf(name), name)))
  expect(known.at(-1)).toMatchObject({ type: 'verdict', outcome: 'succeeded' })
})

const textOf = (told: readonly Told[]) => told.flatMap((one) => (one.type === 'agent.message' ? [one.data.text] : [])).join('')

type Told = AgentEvent | ({ type: 'verdict' } & Verdict)

/** All events, and after those of each turn its verdict. What came on stderr stands last: nobody knows what it came between. */
async function play(lines: readonly string[], name: string): Promise<Told[]> {
  const { prompts = ['hello'], permission = { allow: true }, abortOn } = cases[name] ?? {}
  const place = await makePlace()
  const isAcp = name.startsWith('acp-')
  const options = geminiCli.options.parse({ transport: isAcp ? 'auto' : 'one-shot' })
  const spec: LaunchSpec<GeminiCliOptions> = { options, prompt: '', ...place, extraArgs: [] }
  const file = join(place.home, 'transcript.jsonl')
  writeFileSync(file, lines.join('\n'))
  const command: Command = isAcp
    ? { file: fakeGemini, args: ['--acp'], env: { FAKE_TRANSCRIPT: file } }
    : scripted(lines.map(stepOf), place)
  const child = await launch(command, place)
  onTestFinished(async () => void (await child.stop({ graceMs: 0 })))
  const conversation = await geminiCli.open(child, spec)
  const told: Told[] = []
  for (const prompt of prompts) {
    const stop = new AbortController()
    const events: AgentEvent[] = []
    const verdict = await conversation.turn({
      prompt,
      signal: stop.signal,
      ask: async () => undefined,
      permit: async () => permission,
      emit(event) {
        events.push(event)
        if (event.type === abortOn) stop.abort()
      },
    })
    const isComplaint = ({ type }: AgentEvent) => type === 'agent.stderr' || type === 'agent.retrying'
    // It depends on the day on which it is read.
    const { retryAt, ...rest } = verdict
    told.push(...events.filter((event) => !isComplaint(event)), ...events.filter(isComplaint), { type: 'verdict', ...rest })
    expect(retryAt !== undefined).toBe(/rate-limit|retries$/.test(name))
  }
  await conversation.close()
  return told
}

function stepOf(line: string): Step {
  const { stdout, stderr, exit } = JSON.parse(line)
  if (stdout !== undefined) return { write: `${stdout}\n` }
  // A program whose turn was ended for its retries did not end by itself.
  return stderr === undefined ? (exit === null ? { hang: true } : { exit }) : { stderr }
}
