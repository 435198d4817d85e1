import { PawlError } from '../domain/error.ts'
import { createBubblewrap } from './bubblewrap/sandbox.ts'
import { createNone } from './none/sandbox.ts'
import type { Sandbox, SandboxHealth } from './port.ts'

/** All walls we know, the best first. */
export const sandboxes: readonly Sandbox[] = [createBubblewrap(), createNone()]

export interface SandboxChoice {
  readonly sandbox: Sandbox
  /** Its own health; if it is not the best one, `detail` and `fix` say why the better one could not be used. */
  readonly health: SandboxHealth
}

/** The walls asked for by name, or the best that can be built here. Choosing none is never silent: `enforced` is false and has a reason. */
export async function chooseSandbox(
  options: { readonly wanted?: string; readonly from?: readonly Sandbox[] } = {},
): Promise<SandboxChoice> {
  const { wanted, from = sandboxes } = options
  const candidates = wanted === undefined ? from : from.filter((sandbox) => sandbox.name === wanted)
  if (candidates.length === 0) {
    throw new PawlError(
      'invalid',
      `There is no sandbox "${wanted}"; known are ${from.map((sandbox) => sandbox.name).join(', ')}.`,
    )
  }
  let better: SandboxHealth | undefined
  for (const sandbox of candidates) {
    const health = await sandbox.probe()
    if (health.available) return { sandbox, health: better ? { ...better, available: true, enforced: health.enforced } : health }
    better ??= health
  }
  throw new PawlError(
    'unavailable',
    `The sandbox "${wanted}" cannot be used here: ${better?.detail}${better?.fix ? ` (${better.fix})` : ''}`,
  )
}
