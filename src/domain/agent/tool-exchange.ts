/**
 * What our tools, or the user's server of that name, answer to one message of MCP; undefined to one that wants no answer. What the message asks for winds down when
 * `signal` aborts. Rejects with a `PawlError` while no run is under way.
 */
export type ToolExchange = (
  message: object,
  about: { readonly server?: string | undefined; readonly signal: AbortSignal },
) => Promise<object | undefined>
