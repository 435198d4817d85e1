import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { hear as hearClaude } from '../src/agents/claude-code/hearing.ts'
import { openExec } from '../src/agents/codex/exec.ts'
import { hear as hearCodex, isHarmless } from '../src/agents/codex/hearing.ts'
import { CodexOptions } from '../src/agents/codex/options.ts'
import { createUsageMeter } from '../src/agents/codex/usage.ts'
import type { Turn } from '../src/agents/port.ts'
import { connect } from '../src/agents/shared/json-rpc.ts'
import type { Child } from '../src/sandbox/process/child.ts'
import { lineBatches } from '../src/sandbox/process/lines.ts'
import { type Benchmark, type Figure, interleave, median, timed } from './figure.ts'

const bytesWanted = 50e6
const chunkBytes = 65_536
const warmUps = 2
const rounds = 7
const least = 50

export const benchmark: Benchmark = {
  about: 'the recorded output of the programs, again and again, from bytes to events, against JSON.parse of the same lines',
  measure: async () => [
    await compare('translate Claude Code, MB/s', recordings('claude-code', ''), readClaude),
    await compare('translate Codex app-server, MB/s', recordings('codex', 'app-server-').map(printed), readAppServer),
    await compare('translate Codex exec, MB/s', recordings('codex', 'exec-'), readExec),
  ],
}

/** Reads a stream to its end, turn after turn, and tells how many events came of it; `hear` hears each of them. */
export type Reader = (stdout: Readable, hear?: Turn['emit']) => Promise<number>

async function compare(name: string, texts: readonly string[], read: Reader): Promise<Figure> {
  const once = texts.join('')
  const whole = Buffer.from(once.repeat(Math.ceil(bytesWanted / Buffer.byteLength(once))))
  const chunks: Buffer[] = []
  for (let at = 0; at < whole.length; at += chunkBytes) chunks.push(whole.subarray(at, at + chunkBytes))
  const lines = whole.toString().trimEnd().split('\n')
  const expected = await read(Readable.from([Buffer.from(once)], { objectMode: false }))
  const speedOf = (spentMs: number) => whole.length / 1e6 / (spentMs / 1000)
  const ours = async () => {
    let events = 0
    const spentMs = await timed(async () => {
      events = await read(Readable.from(chunks, { objectMode: false }))
    })
    // Lines that nobody understood and that come in one chunk are one event, so it is not quite as many each time.
    if (events < expected * (whole.length / once.length) * 0.9) throw new Error(`${name}: only ${events} events came.`)
    return speedOf(spentMs)
  }
  const peer = async () =>
    speedOf(
      await timed(async () => {
        let objects = 0
        for (const line of lines) if (typeof JSON.parse(line) === 'object') objects++
        if (objects !== lines.length) throw new Error(`${name}: a line is no object.`)
      }),
    )
  await interleave(warmUps, ours, peer)
  const speeds = await interleave(rounds, ours, peer)
  const speed = median(speeds.ours)
  return {
    name,
    ours: speed.toFixed(0),
    peer: `${median(speeds.peer).toFixed(0)} JSON.parse`,
    ratio: speed / median(speeds.peer),
    target: `≥ ${least} MB/s`,
    isMet: speed >= least,
  }
}

export function recordings(adapter: string, prefix: string): string[] {
  const folder = join(import.meta.dirname, '..', 'src', 'agents', adapter, 'transcripts')
  return readdirSync(folder)
    .filter((file) => file.startsWith(prefix) && file.endsWith('.jsonl') && !file.endsWith('.expected.jsonl'))
    .map((file) => `${readFileSync(join(folder, file), 'utf8').trimEnd()}\n`)
}

/** What the program said of a recording in which both sides speak. */
export function printed(recording: string): string {
  const entries = recording.trimEnd().split('\n')
  const said = entries.map((line) => JSON.parse(line) as { dir: 'in' | 'out'; msg: object }).filter(({ dir }) => dir === 'out')
  return said.map(({ msg }) => `${JSON.stringify(msg)}\n`).join('')
}

function countingTurn(hear?: Turn['emit']): Turn & { events(): number } {
  let events = 0
  return {
    prompt: '',
    signal: new AbortController().signal,
    emit(event) {
      events++
      return hear?.(event)
    },
    ask: async () => {},
    permit: async () => ({ allow: true }),
    events: () => events,
  }
}

export const readClaude: Reader = async (stdout, hear) => {
  const turn = countingTurn(hear)
  const program = { send: () => {}, interrupt: () => {}, tools: { answer: async () => ({}) }, background: 0 }
  let isOver = false
  const begin = () => {
    const hearing = hearClaude(turn, program)
    void hearing.over.then(() => {
      isOver = true
    })
    return hearing
  }
  let hearing = begin()
  for await (const batch of lineBatches(stdout)) {
    for (const line of batch) {
      await hearing.line(line)
      if (!isOver) continue
      await hearing.end()
      isOver = false
      hearing = begin()
    }
    await hearing.paused()
  }
  await hearing.end()
  return turn.events()
}

export const readAppServer: Reader = async (stdout, hear) => {
  const turn = countingTurn(hear)
  let usage = createUsageMeter()
  let hearing = hearCodex(turn, usage)
  const server = connect(childOf(stdout), {
    async notified(method, params, line) {
      await hearing.notified(method, params, line)
      if (method !== 'turn/completed') return
      await hearing.end()
      // The next one is of another recording, whose program counts from nothing.
      usage = createUsageMeter()
      hearing = hearCodex(turn, usage)
    },
    requested: (id) => server.refuse(id, 'It is only a recording.'),
    // The replies to what was asked when it was recorded: read like everything else, but nobody waits for them.
    notUnderstood: async () => {},
    ignores: isHarmless,
    paused: () => hearing.paused(),
    stderr: () => {},
  })
  await server.ended
  await hearing.end()
  return turn.events()
}

const readExec: Reader = async (stdout, hear) => {
  const turn = countingTurn(hear)
  const spec = { options: CodexOptions.parse({}), prompt: '', workspace: '/workspace', home: '/home/agent', extraArgs: [] }
  await openExec(childOf(stdout), spec).turn(turn)
  return turn.events()
}

/** A program that has printed all this and ended. */
function childOf(stdout: Readable): Child {
  const exited = Promise.resolve({ code: 0, signal: null })
  return { pid: 0, stdin: new PassThrough().resume(), stdout, stderr: Readable.from([]), exited, stop: () => exited }
}
