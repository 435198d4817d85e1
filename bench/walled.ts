import { chown, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { hostPath, inPlace } from '../src/domain/base/path.ts'
import { chooseSandbox } from '../src/sandbox/index.ts'
import type { Command } from '../src/sandbox/port.ts'
import type { Place } from './place.ts'

/** Any user without rights: the one a root daemon uses has no account either. */
const user = process.getuid?.() === 0 ? { uid: 61_295, gid: 61_295 } : undefined
let count = 0

/** The bare peer of a run: the same walls and door around the same program, and nothing else. Answers what it printed. */
export async function createWalledSpawn(place: Place): Promise<(command: Omit<Command, 'env'>) => Promise<string>> {
  const { sandbox, health } = await chooseSandbox()
  const folder = join(place.folder, 'walled')
  const [workspace, home, hidden] = [join(folder, 'workspace'), join(folder, 'home'), join(folder, 'hidden')]
  for (const path of [workspace, home, hidden]) {
    await mkdir(path, { recursive: true, mode: 0o700 })
    if (user && path !== hidden) await chown(path, user.uid, user.gid)
  }
  return async (command) => {
    const { child, door } = await sandbox.launch(
      { ...command, env: { PATH: process.env.PATH ?? '' } },
      {
        unit: sandbox.killUnit(`bench-${process.pid}-${count++}`, 1),
        workspace: inPlace(workspace),
        home: hostPath(home),
        hidden: [hostPath(hidden)],
        user: health.enforced ? user : undefined,
        network: 'host',
        door: true,
        limits: { processes: 512, openFiles: 4_096 },
      },
    )
    child.stdin.end()
    child.stderr.resume()
    let text = ''
    for await (const chunk of child.stdout) text += String(chunk)
    await child.exited
    await child.stop({ graceMs: 0 })
    door?.server.close()
    return text
  }
}
