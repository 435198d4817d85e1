import { isIP } from 'node:net'
import type { Clock } from '../../../base/clock.ts'
import { localUser } from '../../../domain/auth/role.ts'
import { invalid, PawlError } from '../../../domain/error.ts'
import { newId } from '../../../domain/id.ts'
import { type ListenerView, mostListeners, type NewListener } from '../../../domain/notification/listener.ts'
import { classOf } from '../../../sandbox/egress/address-class.ts'
import { readHost } from '../../../sandbox/egress/host-name.ts'
import { type Resolve, resolveByHost } from '../../../sandbox/egress/lookup.ts'
import type { ListenerRow } from '../../../store/tables.ts'
import type { Caller } from '../../auth/audit.ts'
import { ensureListenerKey, type ListenerKey } from './key.ts'

const longest = { name: 200, url: 2_000, secret: 8_000 }
/** What may stand in a header as it is. */
const visible = /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/
const scheme = /^[A-Za-z][A-Za-z0-9._~+-]{0,63}$/

interface Shown {
  readonly token?: string | undefined
  readonly scheme?: string | undefined
  readonly credentials?: string | undefined
}

/** Checks what a client asks for and seals what is nobody else's business. */
export async function makeListener(
  input: NewListener,
  of: { key: ListenerKey; caller: Caller; task: string; nowMs: number; allowPrivate: boolean; resolve?: Resolve | undefined },
): Promise<ListenerRow> {
  await assertUsable(input.url, of)
  for (const [what, value] of [
    ['token', input.token],
    ['authentication.credentials', input.credentials],
  ] as const)
    if (value && (value.length > longest.secret || !visible.test(value)))
      throw invalid(`The ${what} of a push notification goes into a header: visible ASCII, at most ${longest.secret} characters.`)
  if (input.scheme && !scheme.test(input.scheme))
    throw invalid('authentication.scheme must be the name of an HTTP authentication scheme, such as Bearer.')
  if (input.name && input.name.length > longest.name)
    throw invalid(`The id of a push notification config has at most ${longest.name} characters.`)
  const id = newId('push', of.nowMs)
  const { user = localUser, token, standing = 'admin' } = of.caller
  const shown: Shown = { token: input.token, scheme: input.scheme, credentials: input.credentials }
  return {
    id,
    task_id: of.task,
    user_name: user,
    name: input.name || id,
    url: input.url,
    wire: input.wire,
    // Bound to what never changes of it: a later one of that name keeps the row's id.
    sealed: of.key.seal(shown, placeOf(of.task, user, input.name || id)),
    sender_key: of.key.jwk.x,
    standing,
    // The token of the home is none of the table.
    token_id: token?.startsWith('k_') ? token : null,
    created_at: new Date(of.nowMs),
  }
}

export function viewOf(row: ListenerRow, key: ListenerKey): ListenerView {
  const shown = key.unseal(row.sealed, placeOf(row.task_id, row.user_name, row.name)) as Shown
  return { name: row.name, url: row.url, wire: row.wire, ...shown }
}

const placeOf = (task: string, user: string, name: string) => JSON.stringify([task, user, name])

/** Told now rather than by silence later. What a name leads to is looked at again with each notification. */
async function assertUsable(
  text: string,
  { allowPrivate, resolve = resolveByHost }: { allowPrivate: boolean; resolve?: Resolve | undefined },
) {
  const url = URL.canParse(text) && text.length <= longest.url ? new URL(text) : undefined
  const host = url && /^https?:$/.test(url.protocol) ? readHost(url.hostname) : undefined
  if (!url || !host)
    throw invalid('The url of a push notification must be one that can be posted to, such as https://example.com/hook.')
  if (url.username || url.password)
    throw invalid('The url of a push notification must not hold a password; use its authentication.')
  if (allowPrivate) return
  if (url.protocol !== 'https:') throw invalid(`${url.host} is to be spoken to without TLS; use https.`)
  const addresses = isIP(host.name) ? [host.name] : await resolve(host.name).catch(() => [])
  if (addresses.some((address) => classOf(address) !== 'public'))
    throw new PawlError(
      'invalid',
      `${url.host} leads to this machine or a private network; only the owner can permit that: a2a.push.allowPrivate.`,
    )
}

/** Those that a task is made with. */
export async function firstListeners(
  parts: { home: string; clock: Pick<Clock, 'now'>; allowsPrivateListeners?: boolean | undefined },
  wanted: readonly NewListener[],
  of: { task: string; caller: Caller },
): Promise<ListenerRow[]> {
  if (wanted.length > mostListeners) throw invalid(`A task has at most ${mostListeners} addresses that are told of it.`)
  const key = await ensureListenerKey(parts.home)
  const allowPrivate = parts.allowsPrivateListeners ?? false
  return Promise.all(wanted.map((one) => makeListener(one, { key, ...of, nowMs: parts.clock.now(), allowPrivate })))
}
