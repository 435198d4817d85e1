import { messageOf } from '../../domain/error.ts'
import type { Child, Exit } from '../../sandbox/process/child.ts'
import { createLineSplitter, type Line } from '../../sandbox/process/lines.ts'
import type { Conversation, LaunchSpec, Turn, Verdict } from '../port.ts'
import { judgeEnding } from '../shared/ending.ts'
import { readChild } from '../shared/read-child.ts'
import { cut } from '../shared/text.ts'
import { within } from '../shared/within.ts'
import { type Hearing, hear, type Wanted } from './hearing.ts'
import { type Learned, learnModel } from './model-facts.ts'
import type { OllamaOptions } from './options.ts'
import { permitted } from './permissions.ts'
import type { LoopResult } from './records.ts'

const maxLineBytes = 16 * 1024 * 1024
/** A tool that is ended gets half a second; the rest takes none. */
const interruptMs = 2_000
const waits = 'It waits for the answer to its question.'

/** Speaks to our own loop: one conversation, many turns. */
export function openLoop(child: Child, spec: LaunchSpec<OllamaOptions>): Conversation {
  const released = new AbortController()
  // A listed model may be anybody's, and what it costs is the gateway's to know.
  const costUsd = spec.servedModels ? undefined : 0
  let now: Hearing | undefined
  let learned: Learned | undefined
  let reading: Promise<Exit | undefined> | undefined
  let session: string | undefined
  const lines: Line[] = []
  const splitter = createLineSplitter({
    maxBytes: maxLineBytes,
    onLine: (text, truncatedBytes) => lines.push({ text, truncatedBytes }),
  })

  function send(message: object): void {
    if (child.stdin.writable) child.stdin.write(`${JSON.stringify(message)}\n`)
  }
  async function takeLines(): Promise<void> {
    for (const line of lines.splice(0)) await now?.line(line)
    await now?.paused()
  }
  const ended = () =>
    (reading ??= readChild(child, {
      signal: released.signal,
      async stdout(chunk) {
        splitter.push(chunk)
        await takeLines()
      },
      stderr: async (chunk) => now?.stderr(chunk),
    }).then(async (exit) => {
      splitter.end()
      await takeLines()
      return exit
    }))

  async function answer(call: Wanted, turn: Turn): Promise<void> {
    try {
      const permission = await permitted(spec, call, turn)
      const refusal = permission.allow ? {} : { message: permission.message, stop: permission.asked === true }
      send({ type: 'decision', id: call.id, allow: permission.allow, ...refusal })
    } catch (thrown) {
      send({ type: 'decision', id: call.id, allow: false, message: messageOf(thrown), stop: true })
    }
  }

  async function takeTurn(turn: Turn): Promise<Verdict> {
    const hearing = hear(turn, { model: spec.model, costUsd, wants: (call) => void answer(call, turn) })
    learned ??= await learnModel(spec, turn)
    if ('refused' in learned) {
      const { refused } = learned
      learned = undefined
      return { outcome: 'failed', text: '', ...refused }
    }
    if (turn.signal.aborted) return stopped
    const { facts, note } = learned
    learned = { facts }
    if (note !== undefined) await hearing.note(note)
    now = hearing
    const stop = Promise.withResolvers<undefined>()
    const abort = () => stop.resolve(undefined)
    turn.signal.addEventListener('abort', abort)
    try {
      send({ type: 'turn', prompt: turn.prompt, model: facts })
      let end: LoopResult | Exit | undefined = await Promise.race([hearing.over, ended(), stop.promise])
      if (end === undefined && turn.signal.aborted) {
        send({ type: 'interrupt' })
        end = await within(Promise.race([hearing.over, ended()]), interruptMs)
      }
      await hearing.end()
      session = hearing.session ?? session
      return judge(end, hearing)
    } finally {
      now = undefined
      turn.signal.removeEventListener('abort', abort)
    }
  }

  function judge(end: LoopResult | Exit | undefined, hearing: Hearing): Verdict {
    const facts = { text: hearing.spoken(), vendorSession: session, usage: hearing.usage, costUsd }
    if (end && 'status' in end) return judgeResult(end, facts)
    const verdict = judgeEnding(end, { facts, stderr: hearing.complaints })
    if (verdict) return verdict
    const failed = { ...facts, outcome: 'failed' as const }
    if (hearing.notUnderstood === undefined)
      return { ...failed, category: 'crashed', message: 'The program ended without a result.' }
    return { ...failed, category: 'protocol_error', message: `A line could not be understood: ${hearing.notUnderstood}` }
  }

  return {
    interrupts: true,
    async turn(turn) {
      return turn.signal.aborted ? stopped : takeTurn(turn)
    },
    async close() {
      released.abort()
      child.stdin.end()
    },
  }
}

const stopped: Verdict = { outcome: 'empty', text: '', message: 'It was stopped before it had begun.' }

function judgeResult(result: LoopResult, facts: Omit<Verdict, 'outcome'>): Verdict {
  const { status, code = 'crashed', retryAfterMs } = result
  if (status === 'blocked') return { ...facts, outcome: 'blocked', message: waits, mayGoOn: true }
  if (status === 'stopped')
    return {
      ...facts,
      outcome: facts.text === '' ? 'empty' : 'partial',
      message: 'It was stopped before it had finished.',
      mayGoOn: true,
    }
  if (status === 'failed') {
    const failed = { ...facts, outcome: 'failed' as const, message: cut(result.message ?? 'It gave no reason.', 2_000) }
    if (code !== 'usage_limit') return { ...failed, category: code }
    // A limit whose end nobody knows cannot be waited for; it is tried again as any other refusal to answer.
    return retryAfterMs === undefined
      ? { ...failed, category: 'rate_limited' }
      : { ...failed, category: 'usage_limit', retryAt: new Date(Date.now() + retryAfterMs) }
  }
  const text = cut(result.text, 1_048_576).trim()
  if (text === '')
    return { ...facts, outcome: 'empty', category: 'empty_answer', message: 'It ended well but said nothing.', mayGoOn: true }
  return { ...facts, text, outcome: 'succeeded', mayGoOn: true }
}
