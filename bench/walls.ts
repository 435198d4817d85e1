import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chown, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { hostPath, sandboxPath } from '../src/domain/base/path.ts'
import { chooseSandbox } from '../src/sandbox/index.ts'
import type { Walls } from '../src/sandbox/port.ts'
import { type Benchmark, type Figure, interleave, median, ms, timed } from './figure.ts'
import { inPlace } from './place.ts'

const rounds = 25
const mostMs = 80
/** Any user without rights: the one a root daemon uses has no account either. */
const user = process.getuid?.() === 0 ? { uid: 61_295, gid: 61_295 } : undefined

export const benchmark: Benchmark = {
  about:
    'a program that does nothing, from its start to its end behind all walls, with and without a door, against a plain spawn',
  measure: () =>
    inPlace(async (place) => {
      const { sandbox, health } = await chooseSandbox({ wanted: 'bubblewrap' })
      const [workspace, home, hidden] = ['workspace', 'home', 'hidden'].map((name) => join(place.folder, 'walls', name)) as [
        string,
        string,
        string,
      ]
      for (const path of [workspace, home, hidden]) {
        await mkdir(path, { recursive: true, mode: 0o700 })
        if (user && path !== hidden) await chown(path, user.uid, user.gid)
      }
      let count = 0
      const walled = (changes: Partial<Walls>) => async () => {
        const walls: Walls = {
          unit: sandbox.killUnit(`bench-walls-${process.pid}-${count++}`, 1),
          workspace: { source: hostPath(workspace), path: sandboxPath(workspace) },
          ...{
            home: hostPath(home),
            hidden: [hostPath(hidden)],
            user: health.enforced ? user : undefined,
            network: 'none',
            door: true,
          },
          limits: { processes: 512, openFiles: 4_096, memoryBytes: 4 * 1024 ** 3, fileBytes: 1024 ** 3 },
          ...changes,
        }
        return timed(async () => {
          const { child } = await sandbox.launch({ file: '/bin/true', args: [], env: {} }, walls)
          child.stdin.end()
          child.stdout.resume()
          child.stderr.resume()
          await child.exited
          await child.stop({ graceMs: 0 })
        })
      }
      const plain = () => timed(() => once(spawn('/bin/true', { stdio: ['pipe', 'pipe', 'pipe'] }), 'exit'))
      const node = () => timed(() => once(spawn(process.execPath, ['--eval', '0'], { stdio: 'ignore' }), 'exit'))
      const row = async (
        name: string,
        ours: () => Promise<number>,
        peer: () => Promise<number>,
        what: string,
        promised: boolean,
      ) => {
        const sides = await interleave(rounds, ours, peer)
        const [our, their] = [median(sides.ours), median(sides.peer)]
        const figure: Figure = {
          name,
          ours: ms(our),
          peer: `${ms(their)} ${what}`,
          ratio: our / their,
          target: promised ? `≤ ${mostMs} ms over it` : '',
          isMet: promised ? our - their <= mostMs : undefined,
        }
        return figure
      }
      // The first start finds programs and looks through the settings of the machine; the others need not.
      await walled({})()
      return [
        await row('all walls, door included', walled({}), plain, 'plain spawn', true),
        await row('all walls, no door', walled({ door: false }), plain, 'plain spawn', true),
        await row('all walls, door included, against Node', walled({}), node, 'node --eval 0', false),
      ]
    }),
}
