import type { Clock } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import type { Config } from '../config/config.ts'
import type { Audit } from '../engine/auth/audit.ts'
import type { Secrets } from '../engine/auth/secrets.ts'
import type { ThisWorker } from '../engine/base/this-worker.ts'
import type { Doings } from '../engine/base/working.ts'
import type { Subscribers } from '../engine/delivery/push/subscribers.ts'
import type { Sender } from '../engine/delivery/sender.ts'
import type { Blobs } from '../engine/files/blobs.ts'
import type { Bus } from '../engine/journal/bus.ts'
import type { Journal } from '../engine/journal/journal.ts'
import type { Growths } from '../engine/journal/live-text.ts'
import type { Probe } from '../engine/run/probes.ts'
import type { Warm } from '../engine/run/warm.ts'
import type { RefusedSchedules } from '../engine/schedules/refused.ts'
import type { Findings } from '../engine/upkeep/findings.ts'
import type { ListenerVerbs } from '../operations/listeners.ts'
import type { Runtime } from '../operations/runtime.ts'
import type { Redactor } from '../redact/redactor.ts'
import type { Database } from '../store/database.ts'
import type { A2AParts } from '../surfaces/a2a/parts.ts'
import type { Extras } from '../surfaces/mcp/extras.ts'
import type { Contexts } from '../telemetry/contexts.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { Telemetry } from '../telemetry/telemetry.ts'
import type { KnownSecrets } from './known-secrets.ts'
import type { MachineWalls } from './machine/sandbox.ts'
import type { Servers } from './mcp-servers.ts'
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
  readonly growths: Growths
  readonly doings: Doings
  readonly audit: Audit
  readonly secrets: Secrets
  readonly knownSecrets: KnownSecrets
  /** Of notifications. */
  readonly sender: Sender
  /** Browsers that want to be told. */
  readonly subscribers: Subscribers
  /** Addresses that clients want told of single tasks. */
  readonly listeners: ListenerVerbs
  readonly walls: MachineWalls
  readonly probe: Probe
  readonly warm: Warm
  readonly blobs: Blobs
  /** The user's servers of tools. */
  readonly servers: Servers
  /** The verbs, for what goes on by itself and makes tasks. */
  readonly runtime: Runtime
  readonly refusedSchedules: RefusedSchedules
  readonly findings: Findings
  readonly metrics: Metrics
  /** Undefined where nobody collects spans. */
  readonly telemetry?: Telemetry | undefined
  readonly contexts: Contexts
  readonly userHome: string
  /** This process among the workers. */
  readonly self: ThisWorker
  /** Whether it runs everybody's tasks, or only those asked of it. */
  readonly shared: boolean
  readonly started: Started
  readonly conformance?: Conformance | undefined
}

/** What the official suites of two protocols expect of a server, beside what Pawl offers. Only their tests pass it. */
export interface Conformance {
  readonly mcp?: Extras | undefined
  readonly a2a?: A2AParts['planMessage']
}
