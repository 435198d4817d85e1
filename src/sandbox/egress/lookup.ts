import { lookup } from 'node:dns/promises'
import { createGate } from '../../base/gate.ts'

/** Asks for all addresses of a name. */
export type Resolve = (name: string) => Promise<readonly string[]>

/**
 * The system's resolver holds a thread for seconds when a name server is silent, and Node has four, which our files and database need too. So two may be held at
 * once, and one run waits behind itself before it waits behind others.
 */
const everybody = createGate(2)

export const resolveByHost: Resolve = (name) =>
  everybody(async () => (await lookup(name, { all: true })).map(({ address }) => address))

/** The same resolver for one run: one name at a time, and whoever asks for the same meanwhile gets the same answer. */
export function resolveInTurn(resolve: Resolve): Resolve {
  const turn = createGate(1)
  const underWay = new Map<string, Promise<readonly string[]>>()
  return (name) => {
    const asking = underWay.get(name) ?? turn(() => resolve(name)).finally(() => underWay.delete(name))
    underWay.set(name, asking)
    return asking
  }
}
