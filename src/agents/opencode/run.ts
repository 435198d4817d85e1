import { asObject, type Fields } from '../../domain/base/object.ts'
import { addUsage } from '../../domain/money/cost.ts'
import { Usage } from '../../domain/money/usage.ts'
import type { Category } from '../../domain/run/outcome.ts'
import type { Child } from '../../sandbox/process/child.ts'
import { createLineSplitter, type Line } from '../../sandbox/process/lines.ts'
import { byStatus, byWords } from '../acp/verdict.ts'
import type { Conversation, Turn, Verdict } from '../port.ts'
import { judgeEnding } from '../shared/ending.ts'
import { count, text } from '../shared/fields.ts'
import { harmless } from '../shared/harmless.ts'
import { parseLine } from '../shared/json.ts'
import { readChild } from '../shared/read-child.ts'
import { createTextKeeper, cut, pieceChars, sendPieces } from '../shared/text.ts'
import { createUnknownLines } from '../shared/unknown.ts'

const maxLineBytes = 16 * 1024 * 1024

/** Speaks to `opencode run --format json`: one process per turn, nothing can be asked. */
export const openRun = (child: Child): Conversation => ({
  turn: (turn) => runTurn(child, turn),
  async close() {
    child.stdin.destroy()
  },
})

async function runTurn(child: Child, turn: Turn): Promise<Verdict> {
  child.stdin.end(turn.prompt)
  const output = listen(turn)
  const stderr = createTextKeeper()
  const exit = await readChild(child, {
    signal: turn.signal,
    stdout: output.push,
    async stderr(chunk) {
      stderr.add(chunk.toString())
      await turn.emit({ type: 'agent.stderr', data: { text: cut(chunk.toString(), pieceChars) } })
    },
  })
  const { failure, answer, soFar, ...told } = await output.end()
  const facts = { ...told, text: failure === undefined && answer !== '' ? answer : soFar }
  if (exit && failure) return { ...facts, outcome: 'failed', ...failure }
  const missing = /^(?:Error: )?Session not found.*$/m.exec(stderr.text())?.[0]
  if (exit && missing !== undefined) return { ...facts, outcome: 'failed', category: 'session_missing', message: missing }
  const ending = judgeEnding(exit, { facts, stderr })
  if (ending) return ending
  // It says no last word: that it ended well is all there is.
  return answer === ''
    ? { ...facts, outcome: 'empty', category: 'empty_answer', message: 'It ended well but said nothing.' }
    : { ...facts, outcome: 'succeeded' }
}

function listen(turn: Turn) {
  const lines: Line[] = []
  const splitter = createLineSplitter({
    maxBytes: maxLineBytes,
    onLine: (line, truncatedBytes) => lines.push({ text: line, truncatedBytes }),
  })
  const unknown = createUnknownLines(turn)
  const spoken = createTextKeeper()
  let answer = ''
  let vendorSession: string | undefined
  let usage: Usage | undefined
  let costUsd: number | undefined
  let failure: { category: Category; message: string } | undefined

  async function takeLines(): Promise<void> {
    for (const line of lines.splice(0)) {
      if (line.text.trim() === '') continue
      const parsed = parseLine(line)
      const event = 'value' in parsed ? asObject(parsed.value) : undefined
      if (!event || !(await take(event))) await unknown.add(line.text)
    }
    await unknown.flush()
  }

  async function take(event: Fields): Promise<boolean> {
    const session = text(event.sessionID)
    if (session !== undefined && vendorSession === undefined) {
      vendorSession = cut(session, 1024)
      await turn.emit({ type: 'agent.session', data: { vendorId: vendorSession } })
    }
    const part = asObject(event.part) ?? {}
    switch (event.type) {
      case 'step_start':
        turn.sign?.('news')
        return true
      case 'text':
      case 'reasoning': {
        const said = text(part.text) ?? ''
        if (event.type === 'text') {
          answer = said.trim()
          spoken.add(`${said}\n`)
        }
        const type = event.type === 'text' ? 'agent.message' : 'agent.thinking'
        await sendPieces(said, (piece) => turn.emit({ type, data: { text: piece } }))
        return true
      }
      case 'tool_use':
        await takeTool(part)
        return true
      case 'step_finish':
        await takeStep(part)
        return true
      case 'error': {
        const error = asObject(event.error)
        failure = judge(error)
        return error !== undefined
      }
      default:
        return false
    }
  }

  /** It is told of when it is over. */
  async function takeTool(part: Fields): Promise<void> {
    const state = asObject(part.state) ?? {}
    const callId = cut(text(part.callID) ?? '', 1024)
    const tool = cut(text(part.tool) ?? 'tool', 1024)
    const isError = state.status === 'error'
    const output = cut(text(state.output) ?? text(state.error) ?? '', pieceChars)
    await turn.emit({ type: 'agent.tool_called', data: { callId, tool, input: harmless(state.input ?? {}) } })
    await turn.emit({ type: 'agent.tool_returned', data: { callId, output, isError } })
  }

  async function takeStep(part: Fields): Promise<void> {
    const tokens = asObject(part.tokens) ?? {}
    const cache = asObject(tokens.cache) ?? {}
    const step = Usage.parse({
      inputTokens: count(tokens.input) ?? 0,
      outputTokens: (count(tokens.output) ?? 0) + (count(tokens.reasoning) ?? 0),
      cacheReadTokens: count(cache.read) ?? 0,
      cacheWriteTokens: count(cache.write) ?? 0,
      turns: 1,
    })
    const cost = typeof part.cost === 'number' && part.cost > 0 ? part.cost : undefined
    usage = usage ? addUsage(usage, step) : step
    if (cost !== undefined) costUsd = (costUsd ?? 0) + cost
    await turn.emit({ type: 'agent.usage', data: { usage: step, ...(cost !== undefined && { costUsd: cost }) } })
  }

  return {
    async push(chunk: Buffer) {
      splitter.push(chunk)
      await takeLines()
    },
    async end() {
      splitter.end()
      await takeLines()
      return { answer, soFar: spoken.text().trim(), vendorSession, usage, costUsd, failure }
    },
  }
}

function judge(error: Fields | undefined): { category: Category; message: string } {
  const data = asObject(error?.data)
  const name = text(error?.name) ?? ''
  const message = cut(text(data?.message) ?? (name || 'It gave no reason.'), 500)
  if (name === 'ContextOverflowError') return { category: 'context_overflow', message }
  const status = count(data?.statusCode)
  return { category: byWords(message) ?? (status === undefined ? undefined : byStatus(status)) ?? 'exit_code', message }
}
