import { randomBytes } from 'node:crypto'
import { existsSync, statSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import type { Log } from '../../base/log.ts'
import { proxyEnvironment } from '../../sandbox/egress/environment.ts'
import type { NetworkAccess } from '../../sandbox/egress/network.ts'
import type { Sandbox, Walled, Walls } from '../../sandbox/port.ts'
import type { Child } from '../../sandbox/process/child.ts'
import { findProgram } from '../../sandbox/process/program.ts'
import type { ServerCommand } from '../../tools/servers/port.ts'
import { type DoorVerbs, serveDoor } from '../endpoint/endpoint.ts'

/** Walls in which servers are started, and their way out. */
export interface ServerWalls {
  readonly sandbox: Sandbox
  readonly walls: Omit<Walls, 'door' | 'unit'>
  /** Called for each start: what has a unit of its own ends without the others. */
  unit(): Walls['unit']
  readonly path: string
  /** None where the profile names no host, or where walls do not hold. */
  readonly network: NetworkAccess | undefined
  readonly verbs: DoorVerbs
  readonly log: Log
}

/** The program of a server, inside walls: with its own variables, and what its settings name of it in sight. */
export async function launchServer(command: ServerCommand, parts: ServerWalls): Promise<Child> {
  const { walls, network, path } = parts
  const found = await findProgram(command.file, { path, folder: walls.workspace.source })
  const env = { PATH: path, ...(network ? proxyEnvironment() : {}), ...command.env }
  const programs = [found, ...command.args.filter(isScript)]
  const { file, args } =
    command.cwd === undefined
      ? { file: found, args: command.args }
      : { file: '/bin/sh', args: ['-c', 'cd "$1" && shift && exec "$@"', 'sh', command.cwd, found, ...command.args] }
  const walled = await parts.sandbox.launch(
    { file, args, env, programs },
    { ...walls, unit: parts.unit(), door: network !== undefined },
  )
  if (network) await openWayOut(walled, { ...parts.verbs, network }, parts.log)
  return walled.child
}

/** Of these paths, those that are there and that nobody inside can see. */
export async function unseenInside(paths: readonly string[], parts: ServerWalls): Promise<string[]> {
  const there = paths.filter((path) => existsSync(path)).slice(0, 50)
  if (there.length === 0) return []
  const script = 'for path in "$@"; do test -e "$path" || printf "%s\\n" "$path"; done'
  const { child } = await parts.sandbox.launch(
    { file: '/bin/sh', args: ['-c', script, 'sh', ...there], env: { PATH: parts.path }, programs: there.filter(isScript) },
    { ...parts.walls, unit: parts.unit(), door: false },
  )
  try {
    child.stdin.end()
    child.stderr.resume()
    return (await text(child.stdout)).split('\n').filter((line) => line !== '')
  } finally {
    await child.stop({ graceMs: 0 })
  }
}

/** What an interpreter is told to run is as much the program as the interpreter is. */
const isScript = (word: string) =>
  /^\/.*\.(?:[cm]?[jt]s|py|rb|pl|php|lua|sh|jar|exe)$/.test(word) && statSync(word, { throwIfNoEntry: false })?.isFile() === true

/** A door with nothing behind it but the proxy: nobody knows its token. */
export async function openWayOut(walled: Walled, verbs: DoorVerbs, log: Log): Promise<void> {
  if (!walled.door) return
  const door = serveDoor(walled.door.server, { token: randomBytes(24).toString('base64url'), log })
  await door.bind(verbs)
  void walled.child.exited.then(() => door.close())
}
