import type { Turn } from '../port.ts'
import { sendPieces } from './text.ts'

/** A thing that the agent means to do. */
export interface Step {
  readonly text: string
  /** In the words of whoever tells it. */
  readonly status: unknown
}

/** Tells what the agent means to do as a thought, in the form that readers of events know as a list; again only if it has changed. */
export function createPlan(emit: Turn['emit']): (steps: readonly Step[]) => Promise<void> {
  let told = ''
  return async (steps) => {
    const lines = steps.map(({ text, status }) => `- [${sign(status)}] ${text.replaceAll(/\s+/g, ' ').trim()}`).join('\n')
    if (lines === '' || lines === told) return
    told = lines
    await sendPieces(`Plan:\n${lines}`, (piece) => emit({ type: 'agent.thinking', data: { text: piece } }))
  }
}

const sign = (status: unknown) => (status === 'completed' ? 'x' : status === 'in_progress' || status === 'inProgress' ? '>' : ' ')
