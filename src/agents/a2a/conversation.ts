import { messageOf } from '../../domain/error.ts'
import type { AgentEvent } from '../../domain/event/event.ts'
import type { Child, Exit } from '../../sandbox/process/child.ts'
import { createLineSplitter, type Line } from '../../sandbox/process/lines.ts'
import type { Conversation, LaunchSpec, Turn, Verdict } from '../port.ts'
import { judgeEnding } from '../shared/ending.ts'
import { parseLine } from '../shared/json.ts'
import { readChild } from '../shared/read-child.ts'
import { refusedTurn } from '../shared/refused-turn.ts'
import { clean, createTextFlow, createTextKeeper, cut, pieceChars, sendPieces } from '../shared/text.ts'
import { createUnknownLines } from '../shared/unknown.ts'
import { within } from '../shared/within.ts'
import { readBookmark, writeBookmark } from './bookmark.ts'
import { judgeCard } from './card.ts'
import type { A2aOptions } from './options.ts'
import { ClientRecord, type ClientResult, maxLineBytes } from './records.ts'
import { judgeResult } from './verdict.ts'

/** A task that is cancelled elsewhere takes a round trip or two. */
const interruptMs = 6_000

/** Speaks to our own client, which speaks to the remote agent: one turn for each process. */
export function openClient(child: Child, spec: LaunchSpec<A2aOptions>): Conversation {
  return {
    interrupts: true,
    turn: async (turn) => refusedTurn(turn) ?? haveTurn(child, spec, turn),
    close: async () => void child.stdin.end(),
  }
}

async function haveTurn(child: Child, spec: LaunchSpec<A2aOptions>, turn: Turn): Promise<Verdict> {
  const released = new AbortController()
  const spoken = createTextKeeper()
  const complaints = createTextKeeper(16_384)
  let vendorSession: string | undefined
  let result: ClientResult | undefined
  let refused: Verdict | undefined
  let notUnderstood: string | undefined
  let isOver = false
  let attempt = 0
  let recorded: Promise<void> = Promise.resolve()
  const lines: Line[] = []
  const splitter = createLineSplitter({
    maxBytes: maxLineBytes,
    onLine: (text, truncatedBytes) => lines.push({ text, truncatedBytes }),
  })

  // Both outputs are read at the same time, and facts are recorded one after the other.
  function emit(event: AgentEvent): Promise<void> {
    if (!isOver) recorded = recorded.then(() => turn.emit(event))
    return recorded
  }
  function send(message: object): void {
    if (child.stdin.writable) child.stdin.write(`${JSON.stringify(message)}\n`)
  }
  const unknown = createUnknownLines({ ...turn, emit })
  const stderr = createTextFlow({ keep: complaints, send: (text) => emit({ type: 'agent.stderr', data: { text } }) })

  async function take(record: ClientRecord): Promise<void> {
    switch (record.type) {
      case 'card':
        return judge(record)
      case 'mark':
        vendorSession = writeBookmark(record.mark)
        await emit({ type: 'agent.session', data: { vendorId: clean(vendorSession) } })
        // The client goes on when whoever comes after us would find it.
        await turn.stored?.()
        return send({ type: 'kept' })
      case 'text':
        spoken.add(`${record.text}\n`)
        return sendPieces(record.text, (text) => emit({ type: 'agent.message', data: { text } }))
      case 'piece':
        return turn.grow?.('message', clean(record.text))
      case 'note':
        return emit({ type: 'agent.stderr', data: { text: cut(record.text, pieceChars) } })
      case 'retrying':
        return emit({
          type: 'agent.retrying',
          data: { attempt: ++attempt, delayMs: record.delayMs, detail: cut(record.detail, 2_000) },
        })
      case 'asks':
        // Not awaited: an answer may take its time, and the task goes on meanwhile.
        return void ask(record.text, record.options)
      case 'result':
        result = record
        if (record.mark) vendorSession = writeBookmark(record.mark)
    }
  }

  async function judge(found: Extract<ClientRecord, { type: 'card' }>): Promise<void> {
    try {
      const { chosen } = await judgeCard(found, spec.options)
      send({ type: 'use', chosen })
    } catch (thrown) {
      refused = { outcome: 'failed', category: 'bad_config', text: '', message: messageOf(thrown) }
      released.abort()
    }
  }

  async function ask(text: string, options: readonly string[]): Promise<void> {
    try {
      const answers = await turn.ask([{ kind: 'free', text: cut(text, 16_000), options: options.map(clean) }])
      send({ type: 'answer', ...(answers ? { text: answers[0] ?? '' } : {}) })
    } catch {
      // The run is over, and the client is told so.
      send({ type: 'answer' })
    }
  }

  async function takeLines(): Promise<void> {
    for (const line of lines.splice(0)) {
      if (line.text.trim() === '') continue
      const parsed = parseLine(line)
      const record = 'value' in parsed ? ClientRecord.safeParse(parsed.value).data : undefined
      if (record) {
        await unknown.flush()
        await take(record)
      } else {
        notUnderstood = cut(line.text, 200)
        await unknown.add(line.text)
      }
    }
    await unknown.flush()
  }

  const ended = readChild(child, {
    signal: released.signal,
    async stdout(chunk) {
      splitter.push(chunk)
      await takeLines()
    },
    stderr: (chunk) => stderr.push(chunk),
  })
  const stop = Promise.withResolvers<undefined>()
  const abort = () => stop.resolve(undefined)
  turn.signal.addEventListener('abort', abort)
  try {
    const { prompt, askId = crypto.randomUUID(), trace } = turn
    send({ type: 'turn', prompt, askId, mark: readBookmark(spec.resume), trace })
    let exit: Exit | undefined = await Promise.race([ended, stop.promise])
    if (exit === undefined && turn.signal.aborted) {
      send({ type: 'interrupt', cancel: turn.goesOnLater?.() !== true })
      exit = await within(ended, interruptMs)
    }
    released.abort()
    splitter.end()
    await takeLines()
    await stderr.end()
    isOver = true
    await recorded
    if (refused) return refused
    return verdictOf(exit)
  } finally {
    released.abort()
    turn.signal.removeEventListener('abort', abort)
  }

  function verdictOf(exit: Exit | undefined): Verdict {
    const facts = { text: spoken.text().trim(), vendorSession }
    const ending = judgeEnding(exit, {
      facts: result ? { ...facts, text: result.text || facts.text } : facts,
      stderr: complaints,
    })
    if (ending && !(result?.status === 'stopped' && exit === undefined)) return ending
    if (result) return judgeResult(result, facts, new URL(spec.options.url).host)
    const failed = { ...facts, outcome: 'failed' as const }
    if (notUnderstood === undefined) return { ...failed, category: 'crashed', message: 'The client ended without a result.' }
    return { ...failed, category: 'protocol_error', message: `A line could not be understood: ${notUnderstood}` }
  }
}
