import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Adapter, Command, LaunchSpec, Verdict } from '../../src/agents/port.ts'
import { type AgentEvent, eventData } from '../../src/domain/event/event.ts'
import type { QuestionAsked } from '../../src/domain/question/question.ts'
import type { Child } from '../../src/sandbox/process/child.ts'
import { isAlive, processIdentity } from '../../src/sandbox/process/identity.ts'
import { launch, type Place } from './launch.ts'

/** How the contract talks to one adapter. */
export interface AdapterCases<Options> {
  /** Options that work here, as a user would write them, for a program that answers any prompt and repeats its first 20 characters. */
  readonly options: Record<string, unknown>
  /** What else its launch and its probe need: where its model is, and which. */
  readonly launch?: Partial<LaunchSpec<Options>> | undefined
  /** Options whose program is not there. */
  readonly missing?: Options | undefined
  /** What the adapter's program prints to say something, and to give its answer. */
  readonly says: (text: string) => string
  readonly answers: (text: string) => string
  /** The program that plays steps, for protocols in which it speaks only when spoken to. */
  readonly program?: ((steps: Step[], place: Place) => Command) | undefined
  /** An answer ends the turn at once, because the program then waits for another: how it exits later says nothing about it. */
  readonly answersEndTurns?: boolean | undefined
}

export type Step = Record<string, unknown>

/** What every adapter owes the engine, whatever its program does. */
export function adapterContract<Options>(adapter: Adapter<Options>, cases: AdapterCases<Options>): void {
  const options = adapter.options.parse(cases.options)
  const spec = (place: Place, prompt = ''): LaunchSpec<Options> => ({ options, prompt, ...place, extraArgs: [], ...cases.launch })

  /** Lets the adapter talk to a program that plays the steps instead of its own. */
  async function play(
    steps: Step[],
    turn: { prompt?: string; signal?: AbortSignal; emit?: (event: AgentEvent) => Promise<void> } = {},
  ) {
    const place = await makePlace()
    const child = await launch((cases.program ?? scripted)(steps, place), place)
    onTestFinished(async () => void (await child.stop({ graceMs: 0 })))
    return { place, child, ...(await converse(adapter, child, spec(place, turn.prompt), turn)) }
  }

  describe(`the adapter ${adapter.name}`, () => {
    test('gives the answer of a program that ends well', async () => {
      const { verdict } = await play([{ write: cases.says('working') }, { write: cases.answers('all done') }])
      expect(verdict).toMatchObject({ outcome: 'succeeded', text: expect.stringContaining('all done') })
    })

    test('calls a program that is killed in the middle of a line crashed and keeps what it said', async () => {
      const half = cases.answers('never finished').slice(0, 9)
      const { verdict } = await play([{ write: cases.says('before the end') }, { write: half }, { crash: 'SIGKILL' }])
      expect(verdict).toMatchObject({ outcome: 'failed', category: 'crashed', text: expect.stringContaining('before the end') })
    })

    test('reads exit code 139 as the walls report it: killed by a signal', async () => {
      const { verdict } = await play([{ exit: 139 }])
      expect(verdict).toMatchObject({ outcome: 'failed', category: 'crashed', message: expect.stringContaining('SIGSEGV') })
    })

    test('winds down when a silent program is aborted, and stopping twice is fine', async () => {
      const stop = new AbortController()
      const saying = play([{ write: cases.says('so far') }, { hang: true }], {
        signal: stop.signal,
        emit: async ({ type }) => {
          if (type === 'agent.message') stop.abort()
        },
      })
      const { verdict, child, conversation } = await saying
      expect(verdict).toMatchObject({ outcome: 'partial', text: expect.stringContaining('so far') })
      await Promise.all([child.stop({ graceMs: 0 }), child.stop({ graceMs: 0 })])
      await conversation.close()
      await conversation.close()
    })

    test('winds down at once when it is aborted before it begins', async () => {
      const { verdict } = await play([{ hang: true }], { signal: AbortSignal.abort() })
      expect(verdict).toMatchObject({ outcome: 'empty', text: '' })
    })

    test('is not misled by garbage on stdout', async () => {
      const garbage = [
        '{"type":',
        '[[[[',
        '{"type":"result"}',
        '\u2028{}',
        'null',
        '{"__proto__":{"x":1}}',
        '1e400',
        '"\\ud800\\u0000"',
      ]
      const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
      const steps = [...garbage, deep].map((line) => ({ write: `${line}\n` }))
      const { verdict } = await play([...steps, { exit: 7 }])
      expect(verdict).toMatchObject({ outcome: 'failed', category: 'exit_code', message: 'Exit code 7' })
      expect(({} as { x?: number }).x).toBeUndefined()
    })

    test('answers in spite of bytes that are no UTF-8', async () => {
      const { verdict } = await play([{ badUtf8: true }, { write: cases.answers('schön') }])
      expect(verdict).toMatchObject({ outcome: 'succeeded', text: expect.stringContaining('schön') })
    })

    test('gives no success to a program that ends before it has said anything', async () => {
      const { verdict } = await play([{ exit: 0 }])
      expect(verdict.outcome).not.toBe('succeeded')
      expect(verdict.category).toBeDefined()
    })

    if (cases.answersEndTurns) {
      test('lets an answer stand, whatever exit follows', async () => {
        const { verdict } = await play([{ write: cases.answers('mine') }, { exit: 3 }])
        expect(verdict).toMatchObject({ outcome: 'succeeded', mayGoOn: true, text: expect.stringContaining('mine') })
      })
    } else {
      test('gives no success to a good answer followed by an error code, and keeps the answer', async () => {
        const { verdict } = await play([{ write: cases.answers('nearly') }, { stderr: 'disk full' }, { exit: 3 }])
        expect(verdict).toMatchObject({
          outcome: 'failed',
          category: 'exit_code',
          message: 'Exit code 3: disk full',
          text: expect.stringContaining('nearly'),
        })
      })

      test('waits for the exit of a program that closed its stdout', async () => {
        const { verdict } = await play([{ write: cases.answers('said') }, { closeStdout: true }, { sleep: 50 }, { exit: 5 }])
        expect(verdict).toMatchObject({ outcome: 'failed', category: 'exit_code', text: expect.stringContaining('said') })
      })
    }

    test('survives a line of 5 MB and still gives the answer', async () => {
      const { verdict, events } = await play([{ longLine: 5_000_000 }, { write: cases.answers('after the long line') }])
      expect(verdict).toMatchObject({ outcome: 'succeeded', text: expect.stringContaining('after the long line') })
      expect(verdict.text.length).toBeLessThan(1_100_000)
      for (const event of events) expect(JSON.stringify(event).length).toBeLessThan(140_000)
    })

    test('does not wait for a grandchild that holds stdout', async () => {
      const place = await makePlace()
      const file = join(place.home, 'left-behind')
      const { verdict, child } = await play([{ doubleFork: { file } }, { write: cases.answers('mine') }])
      expect(verdict).toMatchObject({ outcome: 'succeeded', text: expect.stringContaining('mine') })
      const left = processIdentity(Number(await readFile(file, 'utf8')))
      expect(isAlive(left)).toBe(true)
      await child.stop({ graceMs: 0 })
      await expect.poll(() => isAlive(left), { timeout: 2_000 }).toBe(false)
    }, 10_000)

    test('does not mind a program that never reads its prompt', async () => {
      const { verdict } = await play([{ write: cases.answers('unasked') }], { prompt: 'x'.repeat(1_000_000) })
      expect(verdict).toMatchObject({ outcome: 'succeeded', text: expect.stringContaining('unasked') })
    })

    test('says one thing at a time and waits until it is recorded', async () => {
      let pending = 0
      const emit = async () => {
        expect(++pending).toBe(1)
        await new Promise(setImmediate)
        pending--
      }
      const { verdict, events } = await play(
        [
          ...Array.from({ length: 20 }, (_, i) => ({ write: cases.says(`line ${i}`) })),
          { flood: 1_000_000 },
          { write: cases.answers('end') },
        ],
        { emit },
      )
      expect(verdict.outcome).toBe('succeeded')
      expect(events.length).toBeGreaterThan(5)
    })

    for (const [name, prompt] of Object.entries(prompts)) {
      test(`gives its program ${name}`, async () => {
        const place = await makePlace()
        const child = await launch(adapter.command(spec(place, prompt)), place)
        onTestFinished(async () => void (await child.stop({ graceMs: 0 })))
        const { verdict } = await converse(adapter, child, spec(place, prompt), { prompt })
        expect(verdict).toMatchObject({ outcome: 'succeeded', text: expect.stringContaining(prompt.slice(0, 20)) })
      })
    }

    test('refuses an option it does not know, by its name', () => {
      const refused = adapter.options.safeParse({ ...cases.options, sandwich: true })
      expect(refused.error?.message).toContain('sandwich')
    })

    test('probes in good time and never throws', async () => {
      const path = process.env.PATH ?? ''
      expect(await adapter.probe(options, { path, endpoint: cases.launch?.endpoint, model: cases.launch?.model })).toMatchObject({
        installed: true,
        healthy: true,
      })
      const bad = await adapter.probe(cases.missing ?? options, { path: '', folder: '/does/not/exist' })
      if (cases.missing) expect(bad).toMatchObject({ installed: false, healthy: false, fix: expect.any(String) })
    })
  })
}

const prompts = {
  'a prompt that begins with a dash': '--help me with this one',
  'a prompt of 1 MB': `a long prompt begins here ${'lorem ipsum '.repeat(87_000)}`,
}

export const fakeAgent = fileURLToPath(new URL('../fake-agent/fake-agent.js', import.meta.url))

/** The fake agent with a script, given by file because a script may be longer than an environment. */
export const scripted = (steps: Step[], place: Place, output: 'text' | 'jsonl' = 'text'): Command => ({
  file: process.execPath,
  args: [fakeAgent],
  env: { FAKE_SCRIPT: join(place.home, 'script.json') },
  files: { 'script.json': JSON.stringify({ output, steps }) },
})

export async function makePlace(): Promise<Place> {
  const folder = await mkdtemp(join(tmpdir(), 'pawl-adapter-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const place = { workspace: join(folder, 'workspace'), home: join(folder, 'home') }
  await mkdir(place.workspace)
  await mkdir(place.home)
  return place
}

/** One turn; checks that every event is one that can be stored, and that none comes after the verdict. */
export async function converse<Options>(
  adapter: Adapter<Options>,
  child: Child,
  spec: LaunchSpec<Options>,
  turn: { prompt?: string; signal?: AbortSignal; emit?: (event: AgentEvent) => Promise<void> } = {},
) {
  const events: AgentEvent[] = []
  const asked: QuestionAsked[] = []
  const grown: string[] = []
  const conversation = await adapter.open(child, spec)
  let isOver = false
  const verdict: Verdict = await conversation.turn({
    prompt: turn.prompt ?? '',
    signal: turn.signal ?? new AbortController().signal,
    async emit(event) {
      if (isOver) throw new Error(`${event.type} came after the verdict`)
      eventData[event.type].parse(event.data)
      expectStorable(event)
      events.push(event)
      await turn.emit?.(event)
    },
    async ask(questions) {
      asked.push(...questions)
      return undefined
    },
    permit: async () => ({ allow: true }),
    grow(_, piece) {
      expectStorable(piece)
      grown.push(piece)
    },
  })
  isOver = true
  expectStorable(verdict)
  return { verdict, events, asked, grown, conversation }
}

/** Neither NUL nor half a surrogate pair goes into the database, as a key or as a value. */
function expectStorable(value: unknown): void {
  JSON.stringify(value, (key, part) => {
    for (const text of [key, part]) {
      if (typeof text === 'string' && (!text.isWellFormed() || text.includes('\0')))
        throw new Error(`not storable: ${JSON.stringify(text)}`)
    }
    return part
  })
}
