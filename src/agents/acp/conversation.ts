import { asObject } from '../../domain/base/object.ts'
import type { Child, Exit } from '../../sandbox/process/child.ts'
import type { Conversation, LaunchSpec, Turn, Verdict } from '../port.ts'
import { connect, type Reply } from '../shared/json-rpc.ts'
import { refusedTurn } from '../shared/refused-turn.ts'
import { within } from '../shared/within.ts'
import { type Attendance, createAttendance } from './attendant.ts'
import type { Habits } from './habits.ts'
import { type Hearing, hear, isActivity } from './hearing.ts'
import { type Opened, openSession } from './opening.ts'
import { type Asking, answerRequest } from './requests.ts'
import { createCostMeter, usageOf } from './usage.ts'
import { judgeError, judgeExit, judgeStop } from './verdict.ts'

/** A cancellation was answered within 120 ms wherever it was tried. */
const cancelMs = 2_000
/** Programs that give up their turn when they are denied something are told why, and may go on; one that only tries again must end some time. */
const maxTold = 3

/** How a turn ended: by an answer, for want of the conversation, or with the program; undefined if nobody waited for it. */
type End = Reply | { readonly missing: string } | Exit | undefined

/** Speaks the Agent Client Protocol, version 1, with any program that does: one session, many turns. */
export function openAcp(child: Child, spec: LaunchSpec, habits: Habits): Conversation {
  const cost = createCostMeter()
  const attendance: Attendance | undefined = habits.attended && createAttendance(() => rpc, habits.attended)
  let opened: Opened | undefined
  let now: { readonly asking: Asking; readonly hearing: Hearing } | undefined
  let isLoading = false
  let hasPrompted = false
  let isUnbidden = false
  let tellUnbidden = () => {}

  const rpc = connect(
    child,
    {
      async notified(method, params, line) {
        if (method === '_pawl/terminal' && attendance) return attendance.ended(params)
        // Other names are between programs and clients that know them.
        if (!/^(session|elicitation)\//.test(method)) return
        if (method !== 'session/update') return now?.hearing.notUnderstood(line)
        const update = asObject(params.update)
        if (!update) return now?.hearing.notUnderstood(line)
        if (!hasPrompted && update.sessionUpdate === 'usage_update') return void cost.update(update, false)
        // All that was said is told again when a conversation is loaded.
        if (isLoading) return
        // Agents that the agent starts may have sessions of their own.
        if (opened && typeof params.sessionId === 'string' && params.sessionId !== opened.sessionId) return
        if (!now) return isActivity(update) ? takeUnbidden() : undefined
        await now.hearing.updated(update, line)
      },
      notUnderstood: (line) => now?.hearing.notUnderstood(line),
      paused: () => now?.hearing.paused(),
      stderr: (chunk) => now?.hearing.stderr(chunk),
      requested(id, method, params) {
        if (now) return answerRequest(rpc, now.asking, { id, method, params })
        rpc.refuse(id, 'No turn is under way.')
        if (opened) takeUnbidden()
      },
    },
    { version: '2.0' },
  )

  /** Between two turns the program may tell of the last one. If it goes to work, it is done with. */
  function takeUnbidden(): void {
    if (isUnbidden) return
    isUnbidden = true
    child.stdin.end()
    tellUnbidden()
  }

  /** From the handshake to the answer to the prompt. */
  async function run(
    turn: Turn,
    hearing: Hearing,
    prompted: () => void,
    reasons: string[],
  ): Promise<Reply | { missing: string }> {
    if (!opened) {
      const opening = await openSession(rpc, spec, habits, (loading) => {
        isLoading = loading
      })
      if ('missing' in opening) return opening
      if ('failed' in opening) return opening.failed
      opened = opening.opened
    }
    const { sessionId, isNew, images } = opened
    await hearing.session(sessionId)
    if (!hasPrompted && habits.connectsLate && spec.tools) await spec.door?.listed?.()
    // Nothing is begun for a turn that was given up meanwhile.
    if (turn.signal.aborted) return { gone: true }
    prompted()
    const preface = isNew && !hasPrompted ? habits.preface?.(spec) : undefined
    hasPrompted = true
    const say = (text: string, beside: readonly object[] = []) =>
      rpc.request('session/prompt', { sessionId, prompt: [...beside, { type: 'text', text }] })
    const seen = images ? await imageBlocks(turn) : []
    let reply = await say(preface === undefined ? turn.prompt : `${preface}\n\n${turn.prompt}`, seen)
    for (let told = 0; told < maxTold && gaveUp(reply, hearing) && reasons.length > 0 && !turn.signal.aborted; told++) {
      await hearing.pause()
      reply = await say(`<permission_denied>\n${reasons.splice(0).join('\n')}\n</permission_denied>`)
    }
    return reply
  }

  async function takeTurn(turn: Turn): Promise<Verdict> {
    const hearing = hear(turn, { habits, cost, model: () => opened?.model, terminal: attendance?.output })
    const blocked = Promise.withResolvers<'blocked'>()
    const stopped = Promise.withResolvers<'stopped'>()
    const stop = () => stopped.resolve('stopped')
    const reasons: string[] = []
    let isPrompted = false
    const asking: Asking = {
      turn,
      hearing,
      blocked: () => blocked.resolve('blocked'),
      denied(why) {
        reasons.push(why)
        hearing.notAnswered()
      },
      attend: attendance?.attend,
    }
    now = { asking, hearing }
    cost.take()
    turn.signal.addEventListener('abort', stop)
    if (turn.signal.aborted) stop()
    try {
      const running = run(turn, hearing, () => (isPrompted = true), reasons)
      const first = await Promise.race([running, rpc.ended, blocked.promise, stopped.promise])
      let end: End
      if (typeof first !== 'string') {
        end = first && 'gone' in first && !turn.signal.aborted ? await rpc.ended : first
      } else if (isPrompted && opened) {
        rpc.notify('session/cancel', { sessionId: opened.sessionId })
        end = await within(Promise.race([running, rpc.ended]), cancelMs)
      }
      const used = await settleUsage(end, hearing)
      now = undefined
      await hearing.end()
      return judge(first === 'blocked', end, hearing, used)
    } finally {
      now = undefined
      turn.signal.removeEventListener('abort', stop)
    }
  }

  /** Where the program names its cost as it goes, what the answer to the prompt says of tokens is paid for already. */
  async function settleUsage(end: End, hearing: Hearing): Promise<Pick<Verdict, 'usage' | 'costUsd'>> {
    const costUsd = cost.take()
    const told = hearing.used()
    const answered = end && 'result' in end ? (habits.usage?.(end.result) ?? usageOf(end.result)) : undefined
    if (answered && !told && costUsd !== undefined) await hearing.use({ usage: answered, costUsd: 0 })
    return { usage: answered ?? told, costUsd }
  }

  function judge(isBlocked: boolean, end: End, hearing: Hearing, used: Pick<Verdict, 'usage' | 'costUsd'>): Verdict {
    const result = end && 'result' in end ? end.result : undefined
    // After a failure a fresh process is the safer one.
    const mayGoOn = result !== undefined && !isUnbidden
    const facts = { ...used, vendorSession: opened?.sessionId ?? spec.resume, mayGoOn }
    const unfinished = { ...facts, text: hearing.soFar() }
    if (isBlocked) return { ...unfinished, outcome: 'blocked', message: 'It waits for the answer to its question.' }
    const failure = hearing.failure()
    if (result?.stopReason === 'end_turn' && failure !== undefined)
      return judgeError({ code: 0, message: failure || 'It gave no reason.' }, { ...unfinished, mayGoOn: false }, habits)
    if (result) return judgeStop(result.stopReason, { answer: hearing.answer(), soFar: hearing.soFar(), facts })
    if (end && 'missing' in end) return { ...unfinished, outcome: 'failed', category: 'session_missing', message: end.missing }
    if (end && 'error' in end) return judgeError(end.error, unfinished, habits)
    return judgeExit(end && 'code' in end ? end : undefined, unfinished, hearing.complaints)
  }

  return {
    interrupts: true,
    turn: async (turn) => refusedTurn(turn, isUnbidden) ?? takeTurn(turn),
    onUnbidden(tell) {
      tellUnbidden = tell
    },
    async close() {
      rpc.close()
    },
  }
}

/** Not stopped by us, and nothing said since it was denied something: it has taken the no for the end of its turn. */
const gaveUp = (reply: Reply, hearing: Hearing) =>
  'result' in reply &&
  (reply.result.stopReason === 'cancelled' || (reply.result.stopReason === 'end_turn' && hearing.answer() === ''))

const imageBlocks = ({ images = [] }: Turn) =>
  Promise.all(
    images.map(async ({ type, read }) => ({ type: 'image', mimeType: type, data: Buffer.from(await read()).toString('base64') })),
  )
