import {
  type AgentContext,
  type ClientCapabilities,
  type CreateElicitationRequest,
  type CreateElicitationResponse,
  methods,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
  type SessionUpdate,
} from '@agentclientprotocol/sdk'

/** Whoever speaks to us on the other side. An editor that is gone is told nothing, and nothing fails because of it. */
export interface Editor {
  readonly showsNotices: boolean
  readonly hasForms: boolean
  /** In the order of the calls. */
  update(session: string, update: SessionUpdate): void
  /** When all that was to be told is on its way: nobody tells more than the editor reads. */
  settled(): Promise<void>
  /** Undefined: it was withdrawn by the signal, or the editor cannot say. */
  permit(request: RequestPermissionRequest, signal: AbortSignal): Promise<RequestPermissionResponse | undefined>
  fill(request: CreateElicitationRequest, signal: AbortSignal): Promise<CreateElicitationResponse | undefined>
}

export function createEditor(options: {
  client: AgentContext
  capabilities: ClientCapabilities
  onFailure: (what: string, error: unknown) => void
}): Editor {
  const { client, capabilities, onFailure } = options
  let telling: Promise<void> = Promise.resolve()
  const asked = async <T>(what: string, signal: AbortSignal, ask: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await ask()
    } catch (error) {
      if (!signal.aborted) onFailure(what, error)
      return undefined
    }
  }
  return {
    showsNotices: Boolean(capabilities.session?.notices),
    hasForms: Boolean(capabilities.elicitation?.form),
    update(session, update) {
      const sent = client.notify(methods.client.session.update, { sessionId: session, update })
      telling = sent.catch((error: unknown) => onFailure('an update', error))
    },
    settled: () => telling,
    permit: (request, signal) =>
      asked('a request for permission', signal, () =>
        client.request(methods.client.session.requestPermission, request, withdrawnBy(signal)),
      ),
    fill: (request, signal) =>
      asked('a form', signal, () => client.request(methods.client.elicitation.create, request, withdrawnBy(signal))),
  }
}

const withdrawnBy = (signal: AbortSignal) => ({ cancellationSignal: signal, stopWaitingOnCancel: true })
