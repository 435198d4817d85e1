/**
 * The client that gives a task to a remote agent: a program of Pawl's own, started inside the walls with the path of its settings, for one turn. What the remote agent sends is
 * read here and nowhere else, with the bounds of the walls around it.
 * It takes lines of JSON: {type:'turn',prompt,askId,mark,trace?} or {type:'recall',mark}, {type:'use',chosen} {type:'kept'} {type:'answer',text?} {type:'interrupt',cancel}
 * and prints what `records.ts` beside this folder reads.
 */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { asObject } from '../../../domain/base/object.ts'
import { asText, linesOf, parsed } from '../../shared/program-lines.ts'
import { findCard } from './card.ts'
import { Failure, sentenceOf } from './failure.ts'
import { leaveFiles } from './leave-files.ts'
import { fileParts } from './parts.ts'
import { firstContactMs, outageMs, persistently } from './patience.ts'
import { createFetch } from './reach.ts'
import { openRemote, type Remote } from './remote.ts'
import type { Bookmark, Chosen, Settings } from './settings.ts'
import { isOver, states } from './states.ts'
import { talk } from './talk.ts'

process.title = 'pawl-a2a'
// Whoever stops it says so on its input first, and a task elsewhere may have to be cancelled meanwhile.
process.on('SIGTERM', () => interrupt(false))
const settings = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as Settings & { keyVariable: string }
const { HTTP_PROXY: proxy, PAWL_ATTACHMENTS: attachments, PAWL_ARTIFACTS: folder, [settings.keyVariable]: key } = process.env

const cancelMs = 5_000
/** How long a message that is on its way may take to become a task that can be cancelled. */
const unknownMs = 2_500

const now = new AbortController()
let remote: Remote | undefined
let mark: Bookmark = {}
let isCancelled = false
let isTold = false
const waiting = new Map<string, (message: Record<string, unknown>) => void>()

async function say(record: object): Promise<void> {
  if (!process.stdout.write(`${JSON.stringify(record)}\n`)) await once(process.stdout, 'drain')
}

const reply = (type: string) =>
  new Promise<Record<string, unknown>>((resolve, reject) => {
    const abort = () => reject(now.signal.reason)
    if (now.signal.aborted) return abort()
    now.signal.addEventListener('abort', abort, { once: true })
    waiting.set(type, resolve)
  })

function interrupt(cancel: boolean): void {
  isCancelled ||= cancel
  if (!isTold) process.exit(0)
  if (isCancelled && mark.task === undefined && !now.signal.aborted) setTimeout(() => now.abort(), unknownMs).unref()
  else now.abort()
}

async function take(work: () => Promise<object>): Promise<void> {
  isTold = true
  try {
    await finish(await work())
  } catch (thrown) {
    if (now.signal.aborted) await finish(await stopped())
    else {
      const { code, retryAfterMs } = thrown instanceof Failure ? thrown : { code: 'crashed', retryAfterMs: undefined }
      await finish({
        status: 'failed',
        text: '',
        code,
        message: sentenceOf(thrown),
        ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      })
    }
  }
}

async function finish(result: object): Promise<void> {
  await say({ type: 'result', ...result })
  process.exit(0)
}

/** Its card is judged outside. */
async function reach(message: Record<string, unknown>, forMs: number): Promise<Remote> {
  const trace = asText(message.trace)
  const fetch = createFetch({ ...settings, proxy, key, headers: trace === '' ? {} : { traceparent: trace } })
  const card = await persistently(() => findCard(settings.url, fetch, now.signal), { say, signal: now.signal, forMs })
  await say({ type: 'card', ...card })
  const { chosen } = await reply('use')
  return openRemote(asObject(chosen) as unknown as Chosen, fetch)
}

const markOf = (message: Record<string, unknown>) => (asObject(message.mark) ?? {}) as Bookmark

async function haveTurn(message: Record<string, unknown>): Promise<object> {
  const before = markOf(message)
  remote = await reach(message, before.task === undefined || before.over ? firstContactMs : outageMs)
  const { parts: files, leftOut } = await fileParts(attachments)
  if (leftOut.length > 0) await say({ type: 'note', text: `Too large to be sent along: ${leftOut.join(', ')}.` })
  const ask = {
    prompt: asText(message.prompt),
    askId: asText(message.askId),
    mark: before,
    files,
    metadata: settings.metadata,
  }
  const {
    ended,
    hearing,
    mark: last,
  } = await talk(remote, ask, {
    say,
    signal: now.signal,
    async keep(next) {
      mark = next
      await say({ type: 'mark', mark: next })
      await reply('kept')
      if (isCancelled) now.abort()
    },
    async answer({ text: question, options }) {
      await say({ type: 'asks', text: question, options })
      const { text } = await reply('answer')
      return typeof text === 'string' ? text : undefined
    },
  })
  mark = last
  const text = await hearing.finish()
  if (ended === 'blocked') return { status: 'blocked', text, mark }
  const { left, leftOut: tooLarge } = await leaveFiles(hearing.artifacts(), { ...settings, folder })
  if (tooLarge.length > 0)
    await say({ type: 'note', text: `Files of the remote agent that were not kept: ${tooLarge.join(', ')}.` })
  return { status: statusOf(ended), text, files: left, mark: { ...mark, ...(isLast(ended) ? { over: true } : {}) } }
}

const isLast = (ended: number | string) => ended === 'message' || isOver(Number(ended))

function statusOf(ended: number | 'message'): string {
  if (ended === 'message' || ended === states.completed) return 'done'
  if (ended === states.rejected) return 'rejected'
  if (ended === states.canceled) return 'canceled'
  return ended === states.authRequired ? 'auth' : 'unable'
}

/** Cancelled there too, if nobody will go on with it; whether it was, is waited for a little. */
async function stopped(): Promise<object> {
  const { task } = mark
  if (!isCancelled || !remote || task === undefined) return { status: 'stopped', text: '', mark }
  const why = await cancel(remote, task)
  if (why === undefined) return { status: 'stopped', text: '', mark: { ...mark, over: true } }
  await say({ type: 'note', text: `Task ${task} of the remote agent may still be at work, and is to be cancelled later: ${why}` })
  return { status: 'stopped', text: '', mark }
}

/** Why it may still be at work; undefined if it has ended. */
async function cancel(from: Remote, task: string): Promise<string | undefined> {
  const late = AbortSignal.timeout(cancelMs)
  try {
    await from.cancel(task, late)
    while (await isAtWork(from, task, late)) await wait(250, undefined, { signal: late })
    return undefined
  } catch (thrown) {
    return late.aborted ? `it had not ended after ${cancelMs / 1_000} s` : sentenceOf(thrown)
  }
}

async function isAtWork(from: Remote, task: string, signal: AbortSignal): Promise<boolean> {
  const found = await from.get(task, signal)
  return found !== undefined && !isOver(found.status?.state)
}

/** Ends a task that an earlier turn has begun and could not end. One that has ended by itself is not cancelled. */
async function recall(message: Record<string, unknown>): Promise<object> {
  const { task = '' } = markOf(message)
  const from = await reach(message, 0)
  const ended = (text: string) => ({ status: 'done', text: '', message: text })
  if (!(await isAtWork(from, task, now.signal))) return ended(`Task ${task} of the remote agent had ended by itself.`)
  const why = await cancel(from, task)
  return why === undefined
    ? ended(`Task ${task} of the remote agent is cancelled.`)
    : { status: 'failed', text: '', message: `Task ${task} of the remote agent may still be at work: ${why}` }
}

for await (const line of linesOf(process.stdin as AsyncIterable<Buffer>)) {
  const message = parsed(line)
  const type = asText(message?.type)
  if (!message) continue
  if (type === 'turn' && !isTold) void take(() => haveTurn(message))
  else if (type === 'recall' && !isTold) void take(() => recall(message))
  else if (type === 'interrupt') interrupt(message.cancel === true)
  else {
    waiting.get(type)?.(message)
    waiting.delete(type)
  }
}
// Whoever spoke to it is gone.
interrupt(false)
