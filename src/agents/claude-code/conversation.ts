import { randomUUID } from 'node:crypto'
import type { Child, Exit } from '../../sandbox/process/child.ts'
import { createLineSplitter, type Line } from '../../sandbox/process/lines.ts'
import type { Conversation, LaunchSpec, Turn, Verdict } from '../port.ts'
import { readChild } from '../shared/read-child.ts'
import { refusedTurn } from '../shared/refused-turn.ts'
import { createTextFlow, createTextKeeper } from '../shared/text.ts'
import { within } from '../shared/within.ts'
import { type Hearing, hear } from './hearing.ts'
import type { ClaudeCodeOptions } from './options.ts'
import { refuseUnbidden } from './requests.ts'
import { createCostMeter, isGood, type Result } from './result.ts'
import { createToolPipe, isCall, isForTools } from './tools.ts'
import { isActivity, translate } from './translate.ts'
import { judgeEnd, judgeResult } from './verdict.ts'

/** A file that was read whole comes in one line, and once more in the line of its tool's return. */
const maxLineBytes = 64 * 1024 * 1024
/** An interruption took 30 ms where it was tried, and 1.6 s with a command to stop. */
const interruptMs = 3_000
/** An idle program whose stdin is closed ends within 60 ms, and cleans up after itself. */
const partingMs = 1_000

/** Speaks stream-json with one process: a prompt per turn, as many turns as it lives. */
export function openConversation(child: Child, spec: LaunchSpec<ClaudeCodeOptions>): Conversation {
  const closed = new AbortController()
  const cost = createCostMeter({ isResumed: spec.resume !== undefined })
  const tools = createToolPipe(spec.door?.exchange)
  const complaints = createTextKeeper(16_384)
  const stderr = createTextFlow({ keep: complaints, send: (text) => now?.stderr(text) })
  const lines: Line[] = []
  const splitter = createLineSplitter({
    maxBytes: maxLineBytes,
    onLine: (text, truncatedBytes) => lines.push({ text, truncatedBytes }),
  })
  let now: Hearing | undefined
  let background = 0
  let isIdle = false
  let isUnbidden = false
  let tellUnbidden = () => {}
  let ended: Promise<Exit | undefined> | undefined

  async function takeLines(): Promise<void> {
    for (const line of lines.splice(0)) {
      if (now && !now.isOver) await now.line(line)
      else takeUnbidden(line)
    }
    await now?.paused()
  }
  /** Between two turns the program may tell of the last one. If it goes to work, by a timer of its own say, it is done with. */
  function takeUnbidden(line: Line): void {
    const heard = translate(line)
    if (!isActivity(heard)) return
    if (heard.request) send(refuseUnbidden(heard.request))
    // It may take back a call of the turn that was stopped.
    if (isUnbidden || (heard.request && isForTools(heard.request) && !isCall(heard.request))) return
    isUnbidden = true
    child.stdin.end()
    tellUnbidden()
  }
  /** To the end of the process, over all turns. */
  async function read(): Promise<Exit | undefined> {
    const exit = await readChild(child, {
      signal: closed.signal,
      stdout(chunk) {
        splitter.push(chunk)
        return takeLines()
      },
      stderr: stderr.push,
    })
    splitter.end()
    await takeLines()
    await stderr.end()
    return exit
  }
  function send(message: object): void {
    if (child.stdin.writable) child.stdin.write(`${JSON.stringify(message)}\n`)
  }
  const interrupt = () => send({ type: 'control_request', request_id: randomUUID(), request: { subtype: 'interrupt' } })

  async function takeTurn(turn: Turn): Promise<Verdict> {
    const hearing = hear(turn, { send, interrupt, tools, background })
    const stopped = Promise.withResolvers<'stopped'>()
    const stop = () => stopped.resolve('stopped')
    turn.signal.addEventListener('abort', stop)
    now = hearing
    isIdle = false
    ended ??= read()
    try {
      send({
        type: 'user',
        message: { role: 'user', content: [...(await imageBlocks(turn)), { type: 'text', text: turn.prompt }] },
      })
      let end: Result | Exit | 'stopped' | undefined = await Promise.race([hearing.over, ended, stopped.promise])
      if (end === 'stopped') {
        interrupt()
        end = await within(Promise.race([hearing.over, ended]), interruptMs)
      }
      await hearing.end()
      isIdle = end !== undefined && 'subtype' in end
      return judge(end, hearing, turn.signal.aborted)
    } finally {
      turn.signal.removeEventListener('abort', stop)
      background = hearing.background
      now = undefined
    }
  }

  /** The program counts its budget over all its turns: one more may begin while next to nothing of it is used. */
  const hasBudgetLeft = () => spec.maxUsd === undefined || cost.spent <= spec.maxUsd / 10

  function judge(end: Result | Exit | undefined, hearing: Hearing, isStopped: boolean): Verdict {
    const result = end && 'subtype' in end ? end : undefined
    const told = {
      result,
      spoken: hearing.spoken(),
      usage: hearing.usage(),
      session: hearing.session,
      costUsd: result && cost.costOf(result),
      asked: hearing.asked,
      resetsAt: hearing.resetsAt,
      // A command left behind wakes the agent when it ends, in the middle of nothing.
      isReusable: hearing.background === 0 && hasBudgetLeft() && !isUnbidden,
    }
    if (result && (!isStopped || isGood(result))) return judgeResult({ ...told, result }, new Date())
    return judgeEnd(told, end && 'code' in end ? end : undefined, complaints)
  }

  return {
    interrupts: true,
    turn: async (turn) => refusedTurn(turn, isUnbidden) ?? takeTurn(turn),
    onUnbidden(tell) {
      tellUnbidden = tell
    },
    async close() {
      closed.abort()
      child.stdin.destroy()
      if (isIdle && background === 0) await within(child.exited, partingMs)
    },
  }
}

/** Images come before the words about them. */
const imageBlocks = ({ images = [] }: Turn) =>
  Promise.all(
    images.map(async ({ type, read }) => ({
      type: 'image',
      source: { type: 'base64', media_type: type, data: Buffer.from(await read()).toString('base64') },
    })),
  )
