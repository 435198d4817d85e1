import type { Event } from '../../domain/event/event.ts'
import { formatClock } from '../text/format.ts'
import { renderEvent, toneOf } from '../text/render.ts'
import type { Cli } from './cli.ts'

/**
 * An event as lines. Pawl's own lines begin with a dot at the margin and everything an agent says is indented, so no agent can forge one.
 */
export function eventLines(cli: Cli, event: Event, options: { time: boolean; stream: NodeJS.WriteStream }): string {
  const margin = options.time ? `${formatClock(event.at)} ` : ''
  const marker = event.type.startsWith('agent.') ? '  ' : '• '
  const indent = `\n${' '.repeat(margin.length)}  `
  const text = renderEvent(event).trimEnd().replaceAll('\n', indent)
  return cli.style(toneOf(event), `${margin}${marker}${text}`, options.stream)
}
