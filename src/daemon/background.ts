import { formatPath } from '../config/problems.ts'
import { listTrusted } from '../config/trust.ts'
import { profileDigest } from '../domain/profile/digest.ts'
import { resolveProfile } from '../domain/profile/resolve.ts'
import { createNotices } from '../engine/auth/notice-changes.ts'
import { createSweeper } from '../engine/files/sweep.ts'
import { createDeadlines } from '../engine/questions/deadlines.ts'
import { takeFromSettings } from '../engine/schedules/from-settings.ts'
import { createTicker } from '../engine/schedules/ticker.ts'
import { createPeriodicBackups } from '../engine/upkeep/periodic-backups.ts'
import { clearUp } from './clear-up.ts'
import type { Ground } from './ground.ts'
import { deliveryOf } from './notifications.ts'

/** A part that goes on by itself, woken by the clock or the bus. Stopping it twice is fine. */
export interface BackgroundPart {
  start(): void | Promise<void>
  stop(): Promise<void>
}

/** All that goes on beside the runs, in the order in which it is started; it is stopped in the reverse order. Work is admitted after the last has started. */
export function createBackground(ground: Ground): BackgroundPart[] {
  return [deliveryOf(ground), notices(ground), deadlines(ground), ...schedules(ground), ...sweeping(ground), ...backups(ground)]
}

const deadlines = ({ database, journal, bus, clock, log, config, runtime }: Ground) =>
  createDeadlines({ db: database.db, journal, bus, clock, log, settings: config.questions, createTask: runtime.createTask })

/** A one-shot is over too soon to tidy up. */
function sweeping(ground: Ground): BackgroundPart[] {
  const { database, journal, clock, log, config, blobs, shared } = ground
  if (!shared) return []
  return [createSweeper({ db: database.db, journal, clock, log, home: config.home, blobs, alongside: () => clearUp(ground) })]
}

/** A one-shot does not stay long enough for another backup. */
const backups = ({ runtime, config, clock, log, shared }: Ground): BackgroundPart[] =>
  shared ? [createPeriodicBackups({ verbs: runtime, settings: config.backup, clock, log })] : []

/** Only a daemon fires schedules: a one-shot runs its own task and nobody else's. */
function schedules({
  database,
  journal,
  bus,
  clock,
  log,
  runtime,
  config,
  shared,
  refusedSchedules: refused,
}: Ground): BackgroundPart[] {
  if (!shared) return []
  const { db } = database
  const ticker = createTicker({ db, journal, bus, clock, log, tasks: runtime })
  const { files, sources } = config
  // They say where they stand as people see it from where Pawl was started, which may be a part of the path.
  const fileOf = (name: string) => sources[formatPath(['schedules', name])]?.replace(/:\d+$/, '')
  const isOfHome = (name: string) => files.home?.endsWith(fileOf(name) ?? '\0') === true
  return [
    {
      async start() {
        // Each file has its own: a daemon that is started elsewhere leaves those of another project alone.
        for (const source of [files.home, files.project])
          if (source !== undefined) {
            const wanted = config.schedules.filter(({ name }) => (isOfHome(name) ? files.home : files.project) === source)
            await takeFromSettings({ db, log, verbs: runtime, source, wanted, refused })
          }
        ticker.start()
      },
      stop: () => ticker.stop(),
    },
  ]
}

/** The audit tells of rights that were given by editing a file. */
function notices({ database, audit, clock, log, config }: Ground) {
  const look = async () => {
    const trusted = (await listTrusted(config.home)).map(({ file, hash }) => [file, hash] as const)
    const names = Object.keys(config.profiles)
    const digests = names.map((name) => profileDigest(resolveProfile(name, config.profiles, { env: config.env })))
    const profiles = (await Promise.all(digests)).map((digest, i) => [names[i]!, digest] as const)
    return { trusted: new Map(trusted), profiles: new Map(profiles) }
  }
  return createNotices({ db: database.db, audit, clock, log, look })
}
