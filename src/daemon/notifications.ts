import { adapterNamed } from '../agents/index.ts'
import { environmentOf, searchPath } from '../config/config.ts'
import type { Notification } from '../domain/notification/notification.ts'
import { changesOf } from '../engine/delivery/changes.ts'
import { createDelivery } from '../engine/delivery/deliver.ts'
import { createListenerSender } from '../engine/delivery/listeners/send.ts'
import { findSenderKey } from '../engine/delivery/push/key-file.ts'
import { createRecallSender, recallTarget } from '../engine/delivery/recall.ts'
import { createSender, type Sender } from '../engine/delivery/sender.ts'
import type { BackgroundPart } from './background.ts'
import type { Ground } from './ground.ts'
import { readRunFile } from './machine/run-file.ts'

/** What sends notifications, from this machine. */
export function openSender({
  contexts,
  config,
  clock,
  redactor,
  secrets,
  database,
  walls,
  userHome,
}: Pick<Ground, 'contexts' | 'config' | 'clock' | 'redactor' | 'secrets' | 'database' | 'walls' | 'userHome'>): Sender {
  const path = searchPath()
  return createSender({
    contexts,
    clock,
    redactor,
    secrets,
    home: config.home,
    path,
    userHome,
    environment: environmentOf,
    push: { ...config.push, senderKey: () => findSenderKey(config.home) },
    workOf: changesOf({ db: database.db, home: config.home, path, wallsFor: () => walls.choose() }),
  })
}

/** Whose agents work elsewhere. Empty for everybody else, who pays nothing for it. */
export function recallsOf({ agents }: Pick<Ground['config'], 'agents'>): Notification[] {
  const names = agents.filter(({ adapter }) => adapterNamed(adapter).recall !== undefined).map(({ name }) => name)
  return names.length === 0 ? [] : [recallTarget(names)]
}

/** Delivers what the outbox holds. */
export function deliveryOf({
  contexts,
  config,
  clock,
  log,
  database,
  bus,
  journal,
  sender,
  subscribers,
  redactor,
  runtime,
  self,
  shared,
  secrets,
  walls,
}: Ground): BackgroundPart {
  const listeners = createListenerSender({
    contexts,
    db: database.db,
    clock,
    home: config.home,
    redactor,
    allowPrivate: config.a2a.push.allowPrivate,
    async *compose(what) {
      // A process that nobody listens to does not load the protocol.
      const { composePush } = await import('../surfaces/a2a/push-message.ts')
      const daemon = await readRunFile(config.home)
      yield* composePush({ runtime, filesAt: () => `${daemon?.url ?? ''}/api/v1/tasks` }, what)
    },
  })
  const recalls = createRecallSender({
    db: database.db,
    journal,
    clock,
    log,
    home: config.home,
    path: searchPath(),
    redactor,
    environment: environmentOf,
    userEnvironment: (user) => config.users[user]?.env,
    adapterNamed,
    wallsFor: walls.choose,
    secretsFor: secrets.resolve,
  })
  const targets = () => [...config.notifications, ...subscribers.own(), ...recallsOf(config)]
  return createDelivery({
    db: database.db,
    journal,
    bus,
    clock,
    log,
    get worker() {
      return self.id
    },
    targets,
    sender,
    listeners,
    recalls,
    lastRound: !shared,
  })
}
