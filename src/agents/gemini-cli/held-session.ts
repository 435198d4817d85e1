import type { AgentEvent } from '../../domain/event/event.ts'
import type { Turn } from '../port.ts'

/** Keeps the name of a conversation back until there is one. */
export interface HeldSession {
  emit(event: AgentEvent, pass: Turn['emit']): Promise<void>
  /** The model has answered. */
  release(pass: Turn['emit']): Promise<void>
  readonly isTold: boolean
}

/**
 * The program names a conversation before it has asked the model, and does not go on with one in which the model has not answered: it says that there is none. When
 * the model calls a tool, what it said stands in the file.
 */
export function holdSession(): HeldSession {
  let held: AgentEvent | undefined
  let isTold = false
  async function release(pass: Turn['emit']): Promise<void> {
    isTold = true
    const event = held
    held = undefined
    if (event) await pass(event)
  }
  return {
    release,
    async emit(event, pass) {
      if (event.type === 'agent.session' && !isTold) {
        held = event
        return
      }
      if (event.type === 'agent.tool_called') await release(pass)
      await pass(event)
    },
    get isTold() {
      return isTold
    },
  }
}
