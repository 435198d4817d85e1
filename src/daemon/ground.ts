import type { Clock } from '../clock.ts'
import type { Config } from '../config.ts'
import type { Redactor } from '../domain/redact/redactor.ts'
import type { Bus } from '../engine/bus.ts'
import type { Audit } from '../engine/entrance/audit.ts'
import type { Journal } from '../engine/journal.ts'
import type { Sender } from '../engine/outbox/sender.ts'
import type { Probe } from '../engine/program/probes.ts'
import type { Warm } from '../engine/program/warm.ts'
import type { Runtime } from '../engine/runtime.ts'
import type { RefusedSchedules } from '../engine/schedules/refused.ts'
import type { Secrets } from '../engine/secrets.ts'
import type { Log } from '../log.ts'
import type { Database } from '../store/database.ts'
import type { MachineWalls } from '../walls.ts'
import type { Started } from './started.ts'

/** What every part of a running Pawl stands on. */
export interface Ground {
  readonly config: Config
  readonly clock: Clock
  readonly log: Log
  readonly redactor: Redactor
  readonly database: Database
  readonly bus: Bus
  readonly journal: Journal
  readonly audit: Audit
  readonly secrets: Secrets
  /** Of notifications. */
  readonly sender: Sender
  readonly walls: MachineWalls
  readonly probe: Probe
  readonly warm: Warm
  /** The verbs, for what goes on by itself and makes tasks. */
  readonly runtime: Runtime
  readonly refusedSchedules: RefusedSchedules
  readonly userHome: string
  /** This process among the workers. */
  readonly self: string
  /** Whether it runs everybody's tasks, or only those asked of it. */
  readonly shared: boolean
  readonly started: Started
}
