import { asObject } from '../../domain/base/object.ts'
import type { Child } from '../../sandbox/process/child.ts'
import { createLineSplitter, type Line } from '../../sandbox/process/lines.ts'
import type { Conversation, LaunchSpec, Turn, Verdict } from '../port.ts'
import { text } from '../shared/fields.ts'
import { parseLine } from '../shared/json.ts'
import { readChild } from '../shared/read-child.ts'
import { cut } from '../shared/text.ts'
import { createUnknownLines } from '../shared/unknown.ts'
import { hearComplaints } from './complaints.ts'
import type { CodexOptions } from './options.ts'
import { createTranslator } from './translate.ts'
import { readUsage } from './usage.ts'
import { answered, endedEarly, type Facts, judgeExit, judgeFailure } from './verdict.ts'

const maxLineBytes = 16 * 1024 * 1024

/** Speaks to `codex exec --json`: one process per turn, nothing can be asked. */
export const openExec = (child: Child, spec: LaunchSpec<CodexOptions>): Conversation => ({
  turn: (turn) => runTurn(child, spec, turn),
  async close() {
    child.stdin.destroy()
  },
})

async function runTurn(child: Child, spec: LaunchSpec<CodexOptions>, turn: Turn): Promise<Verdict> {
  child.stdin.end(turn.prompt)
  const output = listen(turn)
  const complaints = hearComplaints(turn.emit)
  const exit = await readChild(child, { signal: turn.signal, stdout: output.push, stderr: complaints.push })
  await complaints.end()
  const said = await output.end()
  // It tells what the whole conversation used; of a resumed one, what came before this run is not known.
  const usage = spec.resume === undefined ? readUsage(said.end?.usage) : undefined
  const { model } = spec
  if (usage) await turn.emit({ type: 'agent.usage', data: { usage, ...(model === undefined ? {} : { model }) } })
  const facts: Facts = {
    text: said.end?.ok ? said.answer : said.soFar,
    vendorSession: said.session,
    usage,
  }
  if (exit && said.end?.ok === false) return judgeFailure({ message: said.end.message }, facts)
  const ending = judgeExit(exit, facts, complaints.kept)
  if (ending) return ending
  if (said.end?.ok) return answered(facts)
  if (said.notUnderstood !== undefined) {
    const message = `A line could not be understood: ${said.notUnderstood}`
    return { ...facts, outcome: 'failed', category: 'protocol_error', message }
  }
  return endedEarly(facts, complaints.kept)
}

type End =
  | { readonly ok: true; readonly usage: unknown }
  | { readonly ok: false; readonly message: string; readonly usage?: unknown }

function listen(turn: Turn) {
  const lines: Line[] = []
  const splitter = createLineSplitter({
    maxBytes: maxLineBytes,
    onLine: (line, truncatedBytes) => lines.push({ text: line, truncatedBytes }),
  })
  const unknown = createUnknownLines(turn)
  const translator = createTranslator(turn.emit)
  let session: string | undefined
  let end: End | undefined
  let notUnderstood: string | undefined

  async function takeLines(): Promise<void> {
    for (const line of lines.splice(0)) {
      if (line.text.trim() === '' || (await take(line))) continue
      notUnderstood = cut(line.text, 200)
      await unknown.add(line.text)
    }
    await unknown.flush()
  }
  async function take(line: Line): Promise<boolean> {
    const parsed = parseLine(line)
    const event = 'value' in parsed ? asObject(parsed.value) : undefined
    switch (event?.type) {
      case 'thread.started':
        session = text(event.thread_id)
        if (session === undefined) return false
        await unknown.flush()
        await turn.emit({ type: 'agent.session', data: { vendorId: session } })
        return true
      case 'item.started':
      case 'item.completed':
        await unknown.flush()
        return translator.item(event.item, event.type === 'item.started' ? 'started' : 'completed')
      case 'item.updated':
        // What else is updated is told of when it is over.
        if (asObject(event.item)?.type === 'todo_list') return translator.item(event.item, 'started')
        turn.sign?.('call')
        return true
      case 'turn.started':
        turn.sign?.('news')
        return true
      case 'error': {
        const message = text(event.message)
        if (message === undefined) return false
        // The last one is told of again by the end of the turn.
        if (message.startsWith('Reconnecting')) {
          await unknown.flush()
          await translator.retrying(message)
        }
        return true
      }
      case 'turn.completed':
        end ??= { ok: true, usage: event.usage }
        return true
      case 'turn.failed':
        end = { ok: false, message: text(asObject(event.error)?.message) ?? 'It gave no reason.' }
        return true
      default:
        return false
    }
  }

  return {
    async push(chunk: Buffer) {
      splitter.push(chunk)
      await takeLines()
    },
    async end() {
      splitter.end()
      await takeLines()
      return { answer: translator.answer(), soFar: translator.soFar(), session, end, notUnderstood }
    },
  }
}
