import { messageOf } from '../../domain/error.ts'
import type { AgentHealth, ProbePlace } from '../port.ts'
import { type JudgedCard, judgeCard } from './card.ts'
import { type A2aOptions, hostsOf } from './options.ts'
import { findCard } from './program/card.ts'
import { Failure } from './program/failure.ts'
import { createFetch } from './program/reach.ts'
import { program } from './program.ts'

const patienceMs = 4_000

/** The program is ours and always there; what may be missing is the remote agent. Its card is public, and asked for without the key. */
export async function probeRemote(options: A2aOptions, _place: ProbePlace): Promise<AgentHealth> {
  const missing = program.missing()
  if (missing) return missing
  const { url, local } = options
  const signal = AbortSignal.timeout(patienceMs)
  try {
    const fetch = createFetch({ hosts: hostsOf(options), local })
    const card = await judgeCard(await findCard(url, fetch, signal), options)
    return { installed: true, healthy: true, version: card.version || undefined, detail: described(card) }
  } catch (thrown) {
    const isGuarded = thrown instanceof Failure && thrown.code === 'auth_failed'
    // Only a run has the key: that the card is not for everybody is no fault.
    if (isGuarded)
      return { installed: true, healthy: true, detail: `${new URL(url).host} shows its card only to those who have a key` }
    const detail = signal.aborted ? `no agent card came from ${url} within ${patienceMs / 1_000} s` : sentence(messageOf(thrown))
    return { installed: true, healthy: false, detail, fix: fixFor(thrown) }
  }
}

function described(card: JudgedCard): string {
  const { name, version, skills, offers, chosen, keyHeader } = card
  const spoken = `A2A ${chosen.protocolVersion || '1.0'} by ${chosen.protocolBinding}${chosen.streaming ? ', streaming' : ', asked from time to time'}`
  const others = offers.length > 1 ? ` (offers ${offers.join(', ')})` : ''
  const key = keyHeader === undefined ? (card.wantsKey ? 'wants a key' : '') : `wants a key in the header ${keyHeader}`
  return [
    `${name}${version === '' ? '' : ` ${version}`} at ${chosen.url}`,
    `${spoken}${others}`,
    skills.length === 0 ? 'names no skills' : `skills: ${skills.join(', ')}`,
    signedBy(card),
    key,
  ]
    .filter((part) => part !== '')
    .join('; ')
}

function signedBy({ signed }: JudgedCard): string {
  switch (signed.how) {
    case 'pinned':
      return `card signed by ${signed.by}, with the key of cardKey`
    case 'checked':
      return `card signed by ${signed.by}, with a key of its own host`
    case 'unchecked':
      return `card signed by ${signed.by}, unchecked: ${signed.why}`
    case 'unsigned':
      return 'card not signed'
  }
}

const sentence = (text: string) => text.replace(/\.$/, '')

function fixFor(thrown: unknown): string {
  const code = thrown instanceof Failure ? thrown.code : 'denied'
  if (code === 'network' || code === 'overloaded') return 'Start the remote agent, or correct the url of this one.'
  if (code === 'permission_denied') return 'Set local to true if its name is meant to lead to this machine or a private network.'
  return 'Correct the settings of this agent, or have its maker mend the card.'
}
