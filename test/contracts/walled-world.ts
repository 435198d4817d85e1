import { spawn } from 'node:child_process'
import { chmodSync, chownSync, copyFileSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { hostPath, sandboxPath } from '../../src/domain/base/path.ts'
import type { Walls } from '../../src/sandbox/port.ts'

const isRoot = process.getuid?.() === 0
const project = fileURLToPath(new URL('../..', import.meta.url))

/** Who starts the walls: root, who becomes somebody else first, and a plain user, who has only the own rights to give. */
export type Starter = 'root' | 'a plain user'
export const starters: readonly Starter[] = isRoot ? ['root', 'a plain user'] : ['a plain user']

export interface WalledWorld {
  readonly folder: string
  readonly workspace: string
  readonly home: string
  /** Pawl's own Node there. */
  readonly node: string
  /** Makes a folder that belongs to whoever the agent is. */
  place(path: string): string
  /** Writes a file below the folder that belongs to whoever the agent is. */
  file(path: string, content?: string): string
  /** Runs a shell script behind the walls; the whole of Pawl's part is another process, of the right user. */
  run(
    script: string,
    changes?: Partial<Walls>,
    order?: { readonly freezeMs: number },
  ): Promise<{ out: string; err: string; code: number | null }>
  remove(): void
}

let worlds = 0

export function createWalledWorld(starter: Starter): WalledWorld {
  const drops = starter === 'root'
  const agent = drops ? { uid: 65_534, gid: 65_534 } : isRoot ? { uid: 1_234, gid: 1_234 } : undefined
  const folder = mkdtempSync(join(tmpdir(), 'pawl-world-'))
  // Root's directories are closed to others, and agents work below them all the same; a plain user must get in by itself.
  chmodSync(folder, drops ? 0o700 : 0o755)
  const own = (path: string) => {
    if (agent) chownSync(path, agent.uid, agent.gid)
    return path
  }
  const place = (path: string): string => {
    if (path === '.') return folder
    place(dirname(path))
    mkdirSync(join(folder, path), { recursive: true })
    return own(join(folder, path))
  }
  const file = (path: string, content = '') => {
    place(dirname(path))
    writeFileSync(join(folder, path), content)
    return own(join(folder, path))
  }
  const becomes = isRoot && !drops && agent
  const copy = becomes ? copiedProject(folder) : undefined
  const node = copy?.node ?? process.execPath
  const supervisor = join(copy?.folder ?? project, 'test/contracts/sandbox-supervisor.ts')
  const walls: Walls = {
    unit: { kind: 'pid_namespace', marker: `pawl-world-${process.pid}-${++worlds}.1`, enforced: true },
    workspace: { source: hostPath(place('project')), path: sandboxPath(join(folder, 'project')) },
    home: hostPath(place('home')),
    hidden: [],
    user: drops ? agent : undefined,
    network: 'none',
    door: false,
    limits: { processes: 64, openFiles: 256 },
  }
  return {
    folder,
    workspace: walls.workspace.path,
    home: walls.home,
    node,
    place,
    file,
    async run(script, changes = {}, more = undefined) {
      const command = { file: 'sh', args: ['-c', script], env: {} }
      const order = JSON.stringify({ name: 'bubblewrap', command, walls: { ...walls, ...changes }, once: true, ...more })
      const words = [node, '--no-warnings', supervisor, order]
      const become = becomes
        ? ['setpriv', `--reuid=${agent.uid}`, `--regid=${agent.gid}`, '--clear-groups', '--inh-caps=-all']
        : []
      const [program = '', ...args] = [...become, ...words]
      const child = spawn(program, args, { cwd: '/', stdio: ['ignore', 'pipe', 'pipe'] })
      const ended = new Promise<number | null>((done) => child.once('exit', done))
      const [out, err, code] = await Promise.all([text(child.stdout), text(child.stderr), ended])
      return { out: out.replace(/^launching\n/, ''), err, code }
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** Where anybody can read it: a checkout may lie where only root gets in. */
function copiedProject(folder: string): { folder: string; node: string } {
  const copy = join(folder, 'pawl')
  const node = join(copy, 'bin/node')
  cpSync(join(project, 'src'), join(copy, 'src'), { recursive: true })
  mkdirSync(join(copy, 'test/contracts'), { recursive: true })
  mkdirSync(dirname(node))
  copyFileSync(join(project, 'test/contracts/sandbox-supervisor.ts'), join(copy, 'test/contracts/sandbox-supervisor.ts'))
  writeFileSync(join(copy, 'package.json'), '{"type":"module"}')
  copyFileSync(process.execPath, node)
  chmodSync(node, 0o755)
  return { folder: copy, node }
}
