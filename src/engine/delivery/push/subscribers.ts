import type { Clock } from '../../../base/clock.ts'
import type { Log } from '../../../base/log.ts'
import { seesDetail } from '../../../domain/auth/detail.ts'
import { lesserRole } from '../../../domain/auth/role.ts'
import { messageOf } from '../../../domain/error.ts'
import type { Notification } from '../../../domain/notification/notification.ts'
import { pushTarget } from '../../../domain/notification/push.ts'
import type { Db } from '../../../store/database.ts'
import { livingPush } from '../../../store/push.ts'
import type { Bus } from '../../journal/bus.ts'
import { findSenderKey } from './key-file.ts'

/** The browsers that want to be told, known in memory: whoever stores an event must not ask the database each time whether there are any. */
export interface Subscribers {
  /** Every one: what they want to hear is written down whoever sends it. */
  all(): readonly Notification[]
  /** Those that know this home's key, to which this process can send. */
  own(): readonly Notification[]
  refresh(): Promise<void>
  start(): Promise<void>
  stop(): Promise<void>
}

/** A push service holds a message for a browser that is off, so what it does not take now it may take in some hours. */
const attempts = 12
/** Sign-ins end without a word. */
const lookEveryMs = 60_000

export function createSubscribers(parts: { db: Db; bus: Pick<Bus, 'on'>; clock: Clock; log: Log; home: string }): Subscribers {
  const { db, bus, clock, log, home } = parts
  let all: readonly Notification[] = []
  let own: readonly Notification[] = []
  let cancel: (() => void) | undefined
  let unhear = () => {}

  const refresh = async () => {
    const rows = await livingPush(db, new Date(clock.now()))
    const key = rows.length > 0 ? await findSenderKey(home) : undefined
    const known = rows.map((row) => ({ row, target: targetOf(row) }))
    all = known.map(({ target }) => target)
    own = known.filter(({ row }) => row.sender_key === key?.public).map(({ target }) => target)
  }
  const look = () =>
    refresh().catch((error: unknown) => log.debug('the browsers will be looked at again', { error: messageOf(error) }))
  const later = () => {
    cancel = clock.after(lookEveryMs, () => void look().finally(() => cancel && later()))
  }

  return {
    all: () => all,
    own: () => own,
    refresh,
    async start() {
      unhear = bus.on('push', () => void look())
      await refresh()
      later()
    },
    async stop() {
      unhear()
      cancel?.()
      cancel = undefined
    },
  }
}

function targetOf({
  id,
  endpoint,
  p256dh,
  auth,
  events,
  role,
  tokenRole,
}: Awaited<ReturnType<typeof livingPush>>[number]): Notification {
  const way = {
    kind: 'push',
    subscription: id,
    endpoint,
    p256dh,
    auth,
    seesDetail: seesDetail(lesserRole(role, tokenRole ?? role)),
  } as const
  return { name: pushTarget(id), events, attempts, way }
}
