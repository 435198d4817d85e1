import type { Socket } from 'node:net'
import { type Log, silentLog } from '../../base/log.ts'
import { conflict, PawlError } from '../../domain/error.ts'
import { connectTo, findTarget } from './address.ts'
import { type Decision, decide, deniesAddress, type HostRule, type HostRules, type Verdict } from './host-rule.ts'
import { type Resolve, resolveByHost, resolveInTurn } from './lookup.ts'

/** What a run may reach beyond its walls, and who is told of it. */
export interface NetworkAccess {
  /** The profile whose rules these are, to be named in refusals. */
  readonly profile: string
  readonly rules: HostRules & { readonly granted?: readonly HostRule[] }
  /** The agent's model endpoint, served at `/model`: the user's own setting, wherever it leads. */
  readonly model?: string | undefined
  /** Stores a question about a host that a rule of `ask` names; the answer comes with a later run. */
  ask(target: { host: string; port: number }): Promise<unknown>
  record(event: NetworkEvent): void
  readonly resolve?: Resolve | undefined
  readonly log?: Log | undefined
}

export type Via = 'http' | 'connect' | 'socks4' | 'socks5' | 'fetch'

export type NetworkEvent =
  | {
      readonly type: 'network.decided'
      readonly data: { host: string; port: number; verdict: Verdict; rule?: string; why: string; via: Via }
    }
  | { readonly type: 'network.used'; readonly data: { hosts: NetworkUse[]; others: number } }

/** What became of one host, port and verdict in the whole run. Bytes are the run's own view. */
export interface NetworkUse {
  readonly host: string
  readonly port: number
  readonly verdict: Verdict
  readonly times: number
  readonly sent: number
  readonly received: number
}

/** One run's way out. */
export interface Network {
  readonly model: URL | undefined
  readonly log: Log
  /** A connection to a host that may be reached; rejects with a `Refusal`, or a `PawlError` if it is allowed and fails. */
  open(host: string, port: number, via: Via): Promise<Socket>
  /** Whatever is given here is destroyed when the run lets go of it. Throws if it has. */
  keep<T extends Ends>(stream: T): T
  /** Cuts everything at once. */
  close(): void
}

interface Ends {
  destroy(): unknown
  once(event: 'close', tell: () => void): unknown
}

/** The sentence for the agent, and for the header that a program can look at. */
export class Refusal extends PawlError {
  readonly rule: string

  constructor(message: string, rule: string | undefined) {
    super('denied', message)
    this.rule = rule ?? 'no rule'
  }
}

/** A program that tries a thousand names must fill neither the journal nor anybody's list of questions. */
const mostHosts = 200
const mostQuestions = 10

export function openNetwork(access: NetworkAccess): Network {
  const { rules, profile, log = silentLog } = access
  const resolve = resolveInTurn(access.resolve ?? resolveByHost)
  const uses = new Map<string, { -readonly [K in keyof NetworkUse]: NetworkUse[K] }>()
  const asked = new Map<string, Promise<boolean>>()
  const kept = new Set<Ends>()
  /** Counts what went through each connection that is open; once. */
  const open = new Set<() => void>()
  const ended = new AbortController()
  let others = 0

  const refuseAfterEnd = () => {
    if (ended.signal.aborted) throw conflict('The run that this was asked for is over; try again in your next turn.')
  }

  function note({ host, port, verdict, rule, why }: Decision, via: Via) {
    const key = `${host} ${port} ${verdict}`
    const known = uses.get(key)
    if (known) known.times++
    else if (uses.size >= mostHosts) others++
    else {
      uses.set(key, { host, port, verdict, times: 1, sent: 0, received: 0 })
      access.record({ type: 'network.decided', data: { host, port, verdict, ...(rule === undefined ? {} : { rule }), why, via } })
    }
    return uses.get(key)
  }

  function keep<T extends Ends>(stream: T): T {
    if (ended.signal.aborted) stream.destroy()
    refuseAfterEnd()
    kept.add(stream)
    stream.once('close', () => kept.delete(stream))
    return stream
  }

  /** Once per host: is the question stored? */
  function isAsked({ host, port }: Decision): Promise<boolean> {
    const known = asked.get(host)
    if (known || asked.size >= mostQuestions) return known ?? Promise.resolve(false)
    const asking = access.ask({ host, port }).then(
      () => true,
      (error: unknown) => {
        if (!(error instanceof PawlError)) log.error('a question about a host was not stored', { host, error: String(error) })
        return false
      },
    )
    asked.set(host, asking)
    return asking
  }

  return {
    model: access.model === undefined ? undefined : new URL(access.model),
    log,
    keep,
    async open(hostText, port, via) {
      refuseAfterEnd()
      const decision = decide(rules, hostText, port)
      const { host, verdict, rule } = decision
      if (verdict !== 'allow') {
        note(decision, via)
        const isStored = verdict === 'ask' && (await isAsked(decision))
        throw new Refusal(isStored ? askedSentence(decision) : deniedSentence(decision, profile), rule)
      }
      const refused = (why: string) => {
        note({ ...decision, verdict: 'deny', why }, via)
        return new Refusal(`This run may not connect to ${host}:${port}: ${why}`, rule)
      }
      const target = await findTarget(decision, resolve).catch((error: unknown) => {
        if (error instanceof PawlError && error.code === 'denied') throw refused(error.message)
        throw error
      })
      if (target.addresses.some((address) => deniesAddress(rules, address, port)))
        throw refused('it leads to an address that network.deny names.')
      refuseAfterEnd()
      const use = note(decision, via)
      const socket = keep(await connectTo(target, ended.signal))
      const count = () => {
        if (!open.delete(count) || !use) return
        use.sent += socket.bytesWritten
        use.received += socket.bytesRead
      }
      open.add(count)
      socket.once('close', count)
      return socket
    },
    close() {
      if (ended.signal.aborted) return
      ended.abort()
      for (const count of [...open]) count()
      for (const stream of [...kept]) stream.destroy()
      if (uses.size > 0) access.record({ type: 'network.used', data: { hosts: [...uses.values()], others } })
    },
  }
}

const askedSentence = ({ host, port }: Decision) =>
  `Whether this task may connect to ${host}:${port} was asked; a person answers it. Do not try again in this turn: end it and say what you wait for.`

const deniedSentence = ({ host, port, why }: Decision, profile: string) =>
  `This run may not connect to ${host}:${port}: ${why}. A person can change that in network.allow of the profile "${profile}".`
