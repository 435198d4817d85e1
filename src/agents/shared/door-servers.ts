import type { LaunchSpec } from '../port.ts'

/** A server of tools, as it is found below the address of the door. */
export interface DoorServer {
  readonly name: string
  readonly path: string
}

/** All that the program is to know of: Pawl's own, then those of the user. */
export const doorServers = ({ tools, servers = [] }: Pick<LaunchSpec, 'tools' | 'servers'>): readonly DoorServer[] =>
  tools ? [{ name: 'pawl', path: '/mcp' }, ...servers.map((name) => ({ name, path: `/mcp/${name}` }))] : []

/**
 * As rules and readers know it, from a name in which the program has joined a server and its tool by one underscore. Undefined if it is none of these servers':
 * names may hold underscores themselves, so the longest that fits is meant.
 */
export function joinedName(name: string, servers: readonly string[], prefix = ''): string | undefined {
  const whole = ['pawl', ...servers]
    .toSorted((a, b) => b.length - a.length)
    .find((server) => name.startsWith(`${prefix}${server}_`) && name.length > prefix.length + server.length + 1)
  return whole === undefined ? undefined : `mcp__${whole}__${name.slice(prefix.length + whole.length + 1)}`
}

/** Longer than the longest tool takes, so that the program does not give up before. */
export const toolTimeoutMs = 660_000
