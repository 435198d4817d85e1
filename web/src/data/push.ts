import type { PushEvent, PushView } from '../../../src/domain/notification/push.ts'
import { keepPage } from '../app/kept/register.ts'
import { pushPlace } from '../app/kept/use-renewed-push.ts'
import { pawl } from './pawl.ts'

/** What of Web Push this browser has, and what keeps it from it. */
export type PushSupport = 'able' | 'insecure' | 'unable' | 'forbidden'

export function pushSupport(): PushSupport {
  if (!globalThis.isSecureContext) return 'insecure'
  if (!('serviceWorker' in navigator) || !('PushManager' in globalThis) || !('Notification' in globalThis)) return 'unable'
  return Notification.permission === 'denied' ? 'forbidden' : 'able'
}

/** Which of the subscriptions is that of this browser; the daemon does not tell their addresses. */
export const ownPushId = () => localStorage.getItem(pushPlace)

/** Has this browser told. Asks for the permission to show notifications, so it must come of a click. */
export async function subscribe(publicKey: string, events?: PushEvent[]): Promise<PushView> {
  const registration = await keepPage()
  if (!registration) throw new Error('This browser does not keep the page, so it cannot be told anything.')
  if ((await Notification.requestPermission()) !== 'granted')
    throw new Error('The browser was not allowed to show notifications.')
  const before = await registration.pushManager.getSubscription()
  // One that was made for another Pawl at this address is no use.
  if (before && keyOf(before) !== publicKey) await before.unsubscribe()
  const options = { userVisibleOnly: true, applicationServerKey: publicKey }
  return tell(await registration.pushManager.subscribe(options), events)
}

export async function unsubscribe(id: string): Promise<void> {
  localStorage.removeItem(pushPlace)
  await pawl.removePush(id)
  const subscription = await (await keepPage())?.pushManager.getSubscription()
  await subscription?.unsubscribe()
}

/** A subscription lasts as long as the sign-in that asked for it; whoever is signed in anew asks anew. */
export async function renewPush(): Promise<void> {
  const id = ownPushId()
  const subscription = id === null ? null : await (await keepPage())?.pushManager.getSubscription()
  if (!subscription) return
  const { items, publicKey } = await pawl.getPush()
  if (keyOf(subscription) !== publicKey) return
  await tell(subscription, items.find((item) => item.id === id)?.events as PushEvent[] | undefined)
}

async function tell(subscription: PushSubscription, events: PushEvent[] | undefined): Promise<PushView> {
  const { endpoint, keys } = subscription.toJSON()
  const push = await pawl.subscribePush({
    endpoint: endpoint ?? '',
    keys: { p256dh: keys?.p256dh ?? '', auth: keys?.auth ?? '' },
    label: browserName(),
    ...(events ? { events } : {}),
  })
  localStorage.setItem(pushPlace, push.id)
  return push
}

const keyOf = ({ options: { applicationServerKey: key } }: PushSubscription) =>
  key
    ? btoa(String.fromCharCode(...new Uint8Array(key)))
        .replaceAll('+', '-')
        .replaceAll('/', '_')
        .replaceAll('=', '')
    : ''

/** So that its owner knows it in a list. */
function browserName(): string {
  const agent = navigator.userAgent
  const name = ['Firefox', 'Edg', 'OPR', 'Chrome', 'Safari'].find((one) => agent.includes(`${one}/`)) ?? 'a browser'
  const system = ['Android', 'iPhone', 'iPad', 'Windows', 'Mac OS', 'Linux'].find((one) => agent.includes(one))
  return system ? `${name} on ${system}` : name
}
