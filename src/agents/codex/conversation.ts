import { asObject } from '../../domain/base/object.ts'
import type { Child, Exit } from '../../sandbox/process/child.ts'
import type { Conversation, LaunchSpec, Turn, Verdict } from '../port.ts'
import { text } from '../shared/fields.ts'
import { connect, type Reply, type RpcError } from '../shared/json-rpc.ts'
import { refusedTurn } from '../shared/refused-turn.ts'
import { within } from '../shared/within.ts'
import { makeDatabases } from './databases.ts'
import { type Ended, type Hearing, hear, isActivity, isHarmless } from './hearing.ts'
import type { CodexOptions } from './options.ts'
import { answerRequest } from './requests.ts'
import { approvals, providerId, sandboxMode } from './settings.ts'
import { createUsageMeter } from './usage.ts'
import { answered, endedEarly, type Facts, judgeExit, judgeFailure } from './verdict.ts'

/** An interruption was answered within 20 ms wherever it was tried. */
const interruptMs = 2_000

/** By then whoever wanted only this one turn has let the program go. */
const restMs = 1_000

const otherProvider = new Set<unknown>(['modelProviderMismatch', 'modelProviderNotConfigured'])

const infoOf = ({ data }: RpcError) => asObject(data)?.type ?? asObject(data)?.codexErrorInfo

/** Speaks to `codex app-server`, whose messages do not name the protocol: one thread, many turns. */
export function openAppServer(child: Child, spec: LaunchSpec<CodexOptions>): Conversation {
  const usage = createUsageMeter()
  let now: { turn: Turn; hearing: Hearing; block(): void } | undefined
  let threadId: string | undefined
  let model = spec.model
  let isReady = false
  let isUnbidden = false
  let tellUnbidden = () => {}
  let resting: NodeJS.Timeout | undefined

  const server = connect(child, {
    async notified(method, params, line) {
      if (isActivity(method) && (!now || now.hearing.isOver)) return takeUnbidden()
      await now?.hearing.notified(method, params, line)
    },
    notUnderstood: async (line) => now?.hearing.notUnderstood(line),
    ignores: isHarmless,
    paused: async () => now?.hearing.paused(),
    stderr: async (chunk) => now?.hearing.stderr(chunk),
    requested(id, method, params) {
      if (!now || now.hearing.isOver) {
        server.refuse(id, 'No turn is under way.')
        return takeUnbidden()
      }
      const { turn, hearing, block } = now
      return answerRequest(server, turn, { blocked: block, inputOf: hearing.inputOf }, { id, method, params })
    },
  })

  /** Between two turns the program may tell of the last one. If it goes to work, or its agent's agents do, it is done with. */
  function takeUnbidden(): void {
    if (isUnbidden) return
    isUnbidden = true
    child.stdin.end()
    tellUnbidden()
  }

  async function openThread(): Promise<Reply> {
    if (!isReady) {
      const reply = await server.request('initialize', {
        clientInfo: { name: 'pawl', title: 'Pawl', version: '1' },
        capabilities: { experimentalApi: true },
      })
      if (!('result' in reply)) return reply
      server.notify('initialized')
      isReady = true
    }
    // Said again when resumed: the thread remembers the policy of the run that began it.
    const params = {
      cwd: spec.workspace,
      approvalPolicy: approvals(spec),
      sandbox: sandboxMode(spec),
      modelProvider: providerId,
      model: spec.model,
    }
    if (spec.resume === undefined) return server.request('thread/start', params)
    const known = { ...params, threadId: spec.resume, excludeTurns: true }
    const resumed = await server.request('thread/resume', known)
    // A conversation begun elsewhere is tied to its provider there; a copy of it is not, and has a new id.
    return 'error' in resumed && otherProvider.has(infoOf(resumed.error)) ? server.request('thread/fork', known) : resumed
  }

  /** From the handshake to the turn's end. A reply is that of a request that was not granted. */
  async function run(turn: Turn, hearing: Hearing, started: (turnId: string) => void): Promise<Ended | Reply> {
    if (threadId === undefined) {
      const opened = await openThread()
      if (!('result' in opened)) return opened
      // Nothing is begun for a turn that was given up meanwhile.
      if (turn.signal.aborted) return { gone: true }
      threadId = text(asObject(opened.result.thread)?.id)
      model = text(opened.result.model) ?? model
      if (threadId === undefined) return { error: { code: 0, message: 'The program did not name its conversation.' } }
    }
    hearing.begin({ threadId })
    await hearing.session(threadId)
    if (turn.signal.aborted) return { gone: true }
    const begun = await server.request('turn/start', {
      threadId,
      input: [
        ...(turn.images ?? []).map(({ path }) => ({ type: 'localImage', path })),
        { type: 'text', text: turn.prompt, text_elements: [] },
      ],
      ...(spec.outputSchema && { outputSchema: spec.outputSchema }),
    })
    if (!('result' in begun)) return begun
    const turnId = text(asObject(begun.result.turn)?.id)
    hearing.begin({ threadId, turnId })
    if (turnId !== undefined) started(turnId)
    return hearing.over
  }

  async function takeTurn(turn: Turn): Promise<Verdict> {
    const hearing = hear(turn, usage, () => model)
    const blocked = Promise.withResolvers<'blocked'>()
    const stopped = Promise.withResolvers<'stopped'>()
    const stop = () => stopped.resolve('stopped')
    let turnId: string | undefined
    now = { turn, hearing, block: () => blocked.resolve('blocked') }
    usage.take()
    turn.signal.addEventListener('abort', stop)
    if (turn.signal.aborted) stop()
    try {
      const running = run(turn, hearing, (id) => {
        turnId = id
      })
      const first = await Promise.race([running, server.ended, blocked.promise, stopped.promise])
      let end: Ended | Reply | Exit | undefined
      if (typeof first !== 'string') {
        end = first && 'gone' in first && !turn.signal.aborted ? await server.ended : first
      } else if (turnId !== undefined) {
        void server.request('turn/interrupt', { threadId, turnId })
        end = await within(Promise.race([hearing.over, server.ended]), interruptMs)
      }
      now = undefined
      await hearing.end()
      return judge(first === 'blocked', end, hearing)
    } finally {
      now = undefined
      turn.signal.removeEventListener('abort', stop)
    }
  }

  function judge(isBlocked: boolean, end: Ended | Reply | Exit | undefined, hearing: Hearing): Verdict {
    // After a failure a fresh process is the safer one.
    const mayGoOn = end !== undefined && 'status' in end && end.status !== 'failed' && !isUnbidden
    const facts = (said: string): Facts => ({ text: said, usage: usage.take(), vendorSession: threadId, mayGoOn })
    if (isBlocked) return { ...facts(hearing.soFar()), outcome: 'blocked', message: 'It waits for the answer to its question.' }
    if (end && 'status' in end && end.status === 'completed') return answered(facts(hearing.answer()))
    const unfinished = facts(hearing.soFar())
    if (end && 'status' in end && end.status === 'failed') return judgeFailure(end.failure, unfinished)
    if (end && 'error' in end) return judgeFailure({ message: end.error.message, info: infoOf(end.error) }, unfinished)
    const exit = end && 'code' in end ? end : undefined
    return judgeExit(exit, unfinished, hearing.complaints) ?? endedEarly(unfinished, hearing.complaints)
  }

  return {
    interrupts: true,
    async turn(turn) {
      const refused = refusedTurn(turn, isUnbidden)
      if (refused) return refused
      clearTimeout(resting)
      const verdict = await takeTurn(turn)
      // While the program waits for its next turn there is time to make the next conversation's start shorter.
      if (spec.walled && verdict.mayGoOn) resting = setTimeout(() => void makeDatabases(spec), restMs).unref()
      return verdict
    },
    onUnbidden(tell) {
      tellUnbidden = tell
    },
    async close() {
      clearTimeout(resting)
      server.close()
    },
  }
}
