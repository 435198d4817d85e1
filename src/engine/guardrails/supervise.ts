import type { Verdict } from '../../agents/port.ts'
import type { Clock } from '../../base/clock.ts'
import type { AgentEvent } from '../../domain/event/event.ts'
import { mostUsage, noUsage, tokensOf, usageBeyond } from '../../domain/money/cost.ts'
import type { Usage } from '../../domain/money/usage.ts'
import { type GuardrailSettings, guardrailsFor } from '../../domain/run/guardrails.ts'
import type { RunContext } from '../base/run-context.ts'
import type { Meter } from '../money/meter.ts'
import { createBreaker } from './breaker.ts'
import { createFloodWatch } from './flood.ts'

/** Stands between an agent and the journal: everything it says is counted, and one that goes round in circles is stopped. */
export interface Supervision {
  emit(event: AgentEvent): Promise<void> | undefined
  /** The verdict with what was seen of the run and the adapter may not have kept: nothing that was said or paid for is lost. */
  complete(verdict: Verdict): Promise<Verdict>
}

const mostKeptChars = 262_144

const whole = (told: Usage | undefined, seen: Usage | undefined) =>
  told && seen ? { ...mostUsage(told, seen), turns: told.turns } : (told ?? seen)
/** A report that leaves out what was told before is not of the whole run, and neither is the cost it names. */
const isLess = (told: Usage | undefined, seen: Usage | undefined) =>
  told !== undefined && seen !== undefined && tokensOf(usageBeyond(seen, told)) > 0

export function superviseRun(options: {
  voice: RunContext
  meter: Meter
  clock: Clock
  guardrails: GuardrailSettings
  model: string | undefined
  /** The gateway counts what the run uses: what the program tells of that is neither recorded nor believed. */
  throughGateway?: boolean | undefined
}): Supervision {
  const { voice, meter, clock, guardrails, throughGateway = false } = options
  const { watch } = voice
  const rails = guardrailsFor(guardrails, options.model)
  const breaker = createBreaker((model) => guardrailsFor(guardrails, model ?? options.model))
  const isFlood = createFloodWatch(rails.eventsPerSecond, () => clock.monotonic())
  let said = ''
  let turns = 0

  function keep(text: string): void {
    said += said === '' ? text : `\n${text}`
    // A cut copies all that is kept. With each of ten thousand things that a flooding agent says in a second it kept this process from everything else.
    if (said.length > 2 * mostKeptChars) said = said.slice(-mostKeptChars)
  }
  function judge(event: AgentEvent): void {
    const alarm = breaker.saw(event)
    if (alarm?.kind === 'trip') watch.stop({ kind: 'tripped', message: alarm.message })
    else if (alarm) void voice.note(alarm.code, alarm.detail)
    if (isFlood())
      watch.stop({
        kind: 'tripped',
        message: `The agent told of more than ${rails.eventsPerSecond} things in each of ten seconds and was stopped; guardrails.eventsPerSecond in the settings says how many it may.`,
      })
    for (; turns < breaker.turns; turns++) if (!throughGateway) meter.turned()
  }
  function record(event: AgentEvent): Promise<void> | undefined {
    if (event.type !== 'agent.usage') return voice.recordEvent(event)
    if (throughGateway) return undefined
    const { data, booking } = meter.take(event.data)
    return voice.recordEvent({ type: 'agent.usage', data }, booking)
  }

  return {
    emit(event) {
      watch.sawEvent(event)
      if (event.type === 'agent.message') keep(event.data.text)
      const recorded = record(event)
      judge(event)
      return recorded
    },
    async complete(verdict) {
      await recordRest(verdict)
      const usage = throughGateway ? meter.usage : whole(verdict.usage, meter.usage)
      return {
        ...verdict,
        ...(throughGateway ? { usage: undefined } : {}),
        ...(throughGateway || isLess(verdict.usage, meter.usage) ? { costUsd: undefined } : {}),
        ...(watch.reason && verdict.text === '' ? { text: said.slice(-mostKeptChars).trim() } : {}),
        // Keeping a list is no work: it is left out of the turns that are shown.
        ...(usage ? { usage: { ...usage, turns: Math.max(usage.turns - breaker.todoCalls, 0) } } : {}),
      }
    },
  }

  /** What only the verdict tells. */
  async function recordRest({ usage, costUsd }: Verdict): Promise<void> {
    if (!usage) return
    const told = meter.usage
    const rest = { ...usageBeyond(usage, told ?? noUsage), turns: told ? 0 : usage.turns }
    if (tokensOf(rest) === 0) return
    await record({ type: 'agent.usage', data: { usage: rest, ...(told || costUsd === undefined ? {} : { costUsd }) } })
  }
}
