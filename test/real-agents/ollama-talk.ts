import { onTestFinished } from 'vitest'
import { ollama } from '../../src/agents/ollama/agent.ts'
import { OllamaOptions } from '../../src/agents/ollama/options.ts'
import type { LaunchSpec, Permission, PermissionRequest, Verdict } from '../../src/agents/port.ts'
import { type AgentEvent, type EventData, type EventType, eventData } from '../../src/domain/event/event.ts'
import { makePlace } from '../contracts/adapter.ts'
import { launch, type Place } from '../contracts/launch.ts'

export interface Talk {
  readonly place: Place
  readonly events: AgentEvent[]
  readonly asked: PermissionRequest[]
  say(prompt: string, signal?: AbortSignal): Promise<Verdict>
  of<T extends EventType>(type: T): EventData<T>[]
  kill(): Promise<void>
}

/** The real loop in its own process, without walls, spoken to by the adapter. */
export async function talk(
  endpoint: string,
  changes: Omit<Partial<LaunchSpec<OllamaOptions>>, 'options'> & { options?: Record<string, unknown>; place?: Place } = {},
  permit: (request: PermissionRequest) => Permission = () => ({ allow: true }),
): Promise<Talk> {
  const { options, place = await makePlace(), ...more } = changes
  const spec: LaunchSpec<OllamaOptions> = {
    ...{ options: OllamaOptions.parse(options ?? {}), prompt: '', ...place, extraArgs: [] },
    ...{ model: 'scripted-model', endpoint, ...more },
  }
  const child = await launch(ollama.command(spec), place)
  onTestFinished(async () => void (await child.stop({ graceMs: 0 })))
  const conversation = await ollama.open(child, spec)
  const events: AgentEvent[] = []
  const asked: PermissionRequest[] = []
  return {
    ...{ place, events, asked },
    say: (prompt, signal = new AbortController().signal) =>
      conversation.turn({
        ...{ prompt, signal },
        emit(event) {
          eventData[event.type].parse(event.data)
          events.push(event)
        },
        ask: async () => undefined,
        async permit(request) {
          asked.push(request)
          return permit(request)
        },
      }),
    of: (type) => events.filter((event) => event.type === type).map(({ data }) => data as never),
    kill: async () => void (await child.stop({ graceMs: 0 })),
  }
}
