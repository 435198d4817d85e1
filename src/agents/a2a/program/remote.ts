import type { Message, StreamResponse, Task } from '@a2a-js/sdk'
import { type Client, ClientFactory, JsonRpcTransportFactory, RestTransportFactory } from '@a2a-js/sdk/client'
import { Failure } from './failure.ts'
import type { Chosen } from './settings.ts'

/** A remote agent, by the operations that a turn needs. Each of them throws a `Failure`. */
export interface Remote {
  readonly streams: boolean
  send(message: Message, signal: AbortSignal): AsyncGenerator<StreamResponse>
  watch(task: string, signal: AbortSignal): AsyncGenerator<StreamResponse>
  /** Undefined if it knows of no such task. */
  get(task: string, signal: AbortSignal): Promise<Task | undefined>
  cancel(task: string, signal: AbortSignal): Promise<void>
}

const historyLength = 200

export async function openRemote(chosen: Chosen, fetchImpl: typeof fetch): Promise<Remote> {
  const client = await openClient(chosen, fetchImpl)
  const { tenant } = chosen
  return {
    streams: chosen.streaming,
    async *send(message, signal) {
      const request = {
        tenant,
        message,
        configuration: { acceptedOutputModes: [], taskPushNotificationConfig: undefined, returnImmediately: true },
        metadata: undefined,
      }
      yield* explained(client.sendMessageStream(request, { signal }))
    },
    async *watch(id, signal) {
      yield* explained(client.resubscribeTask({ tenant, id }, { signal }))
    },
    async get(id, signal) {
      try {
        return await client.getTask({ tenant, id, historyLength }, { signal })
      } catch (thrown) {
        const failure = failureOf(thrown)
        if (failure.code === unknownTask) return undefined
        throw failure
      }
    },
    async cancel(id, signal) {
      await client.cancelTask({ tenant, id, metadata: undefined }, { signal }).catch((thrown: unknown) => {
        throw failureOf(thrown)
      })
    },
  }
}

/** Everything of the card that the library looks at has been judged outside. */
function openClient({ streaming, ...chosen }: Chosen, fetchImpl: typeof fetch): Promise<Client> {
  const options = { fetchImpl, legacyCompat: { enabled: true } }
  const factory = new ClientFactory({ transports: [new JsonRpcTransportFactory(options), new RestTransportFactory(options)] })
  return factory.createFromAgentCard({
    name: '',
    description: '',
    version: '',
    provider: undefined,
    supportedInterfaces: [chosen],
    capabilities: { streaming, extensions: [] },
    securitySchemes: {},
    securityRequirements: [],
    defaultInputModes: [],
    defaultOutputModes: [],
    skills: [],
    signatures: [],
  })
}

async function* explained(events: AsyncGenerator<StreamResponse>): AsyncGenerator<StreamResponse> {
  try {
    yield* events
  } catch (thrown) {
    throw failureOf(thrown)
  }
}

export const unknownTask = 'session_missing'

/** What the library throws has a name where the remote agent said what is wrong, and is a plain error where it did not. */
export function failureOf(thrown: unknown): Failure {
  if (thrown instanceof Failure) return thrown
  if (thrown instanceof Error && thrown.cause instanceof Failure) return thrown.cause
  const { name, message } = thrown instanceof Error ? thrown : new Error(String(thrown))
  const said = message.replaceAll(/<[^>]*>|\s+/g, ' ').slice(0, 500)
  if (name === 'AbortError') return new Failure('crashed', 'It was stopped.')
  if (name === 'TaskNotFoundError') return new Failure(unknownTask, `The remote agent knows of no such task: ${said}`)
  if (/Authenticat|Unauthori[sz]ed|PermissionDenied/i.test(name))
    return new Failure('auth_failed', `The remote agent refused the key: ${said}`)
  if (name.endsWith('Error') && name !== 'Error' && name !== 'TypeError' && name !== 'SyntaxError')
    return new Failure('protocol_error', `The remote agent refused what it was asked (${name}): ${said}`)
  const status = Number(/(?:Status:|:|status) (\d{3})\b/.exec(message)?.[1])
  const isPassing = !(status >= 400 && status < 500)
  return new Failure(isPassing ? 'network' : 'protocol_error', `The remote agent could not be understood: ${said}`, { isPassing })
}
