import { environmentOf, searchPath } from '../config.ts'
import { changesOf } from '../engine/outbox/changes.ts'
import { createDelivery } from '../engine/outbox/deliver.ts'
import { createSender, type Sender } from '../engine/outbox/sender.ts'
import type { BackgroundPart } from './background.ts'
import type { Ground } from './ground.ts'

/** What sends notifications, from this machine. */
export function openSender({
  config,
  clock,
  redactor,
  secrets,
  database,
  walls,
  userHome,
}: Pick<Ground, 'config' | 'clock' | 'redactor' | 'secrets' | 'database' | 'walls' | 'userHome'>): Sender {
  const path = searchPath()
  return createSender({
    clock,
    redactor,
    secrets,
    home: config.home,
    path,
    userHome,
    environment: environmentOf,
    workOf: changesOf({ db: database.db, home: config.home, path, wallsFor: () => walls.choose() }),
  })
}

/** Delivers what the outbox holds. */
export function deliveryOf({ config, clock, log, database, bus, journal, sender, self, shared }: Ground): BackgroundPart {
  const targets = config.notifications
  return createDelivery({ db: database.db, journal, bus, clock, log, worker: self, targets, sender, lastRound: !shared })
}
