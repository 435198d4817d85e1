import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, chown, mkdir, readdir, stat, writeFile } from 'node:fs/promises'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { removeTree } from '../../sandbox/files/remove-tree.ts'
import { systemPath } from '../../sandbox/process/program.ts'

type User = { readonly uid: number; readonly gid: number }

/** Everything that must not be reached, really there, and belonging to the very user whom agents are: only the walls keep it from them. */
export interface Bait {
  readonly workspace: string
  readonly home: string
  /** What the probe is told; an attacker knows where things are. */
  readonly told: BaitTold
  /** What is seen from here, whatever the probe says. */
  seen(): { readonly made: boolean; readonly connections: number }
  remove(): Promise<void>
}

export interface BaitTold {
  readonly canary: string
  readonly files: readonly string[]
  readonly beside: string
  readonly made: string
  readonly port: number
  readonly sockets: readonly string[]
  readonly abstract: string
  readonly victim: number
  readonly mark: string
}

/** `folder` lies in Pawl's own home, which no agent may see. */
export async function layBait(folder: string, user: User | undefined): Promise<Bait> {
  const id = randomUUID()
  const canary = `canary-${id}`
  const at = (name: string) => join(folder, name)
  // Open to all: what keeps the agent out is to be the walls, not the rights of files.
  await Promise.all(['outside', 'workspace', 'home'].map((name) => mkdir(at(name), { recursive: true, mode: 0o755 })))
  await writeFile(at('outside/secret'), canary, { mode: 0o644 })
  const servers: Server[] = []
  const sockets = new Set<Socket>()
  let connections = 0
  const listen = async (server: Server, where: { path: string } | { port: number; host: string }) => {
    server.on('connection', (socket) => {
      connections++
      sockets.add(socket)
      socket.on('close', () => sockets.delete(socket))
      socket.on('error', () => socket.destroy()).end(canary)
    })
    server.listen(where)
    await once(server, 'listening')
    servers.push(server)
    return server
  }
  // Longer than a test lasts, and gone by itself soon after us if we are killed.
  const mark = `90.${Math.floor(Math.random() * 1e9)}`
  const victim = spawn('sleep', [mark], {
    cwd: at('outside'),
    env: { PATH: systemPath, CANARY: canary },
    stdio: 'ignore',
    ...(user ?? {}),
  })
  const remove = async () => {
    victim.kill('SIGKILL')
    // Whoever got in must not keep us waiting.
    for (const socket of sockets) socket.destroy()
    await Promise.all(servers.map((server) => new Promise((closed) => server.close(closed))))
    await removeTree(folder)
  }
  try {
    // There is no room for a longer path; where the folder lies so deep, the one without a path stands for both.
    const paths = [at('outside/s')].filter((path) => Buffer.byteLength(path) < 104)
    const [tcp] = await Promise.all([
      listen(createServer(), { port: 0, host: '127.0.0.1' }),
      ...[...paths, `\0${id}`].map((path) => listen(createServer(), { path })),
      once(victim, 'spawn'),
    ])
    for (const path of paths) await chmod(path, 0o777)
    if (user)
      for (const path of ['outside', 'workspace', 'home', ...(await readdir(at('outside'))).map((name) => join('outside', name))])
        await chown(at(path), user.uid, user.gid)
    const { port } = tcp.address() as AddressInfo
    await Promise.all([{ port, host: '127.0.0.1' }, ...[...paths, `\0${id}`].map((path) => ({ path }))].map(answers))
    connections = 0
    return {
      workspace: at('workspace'),
      home: at('home'),
      told: {
        canary,
        files: [at('outside/secret')],
        beside: 'secret',
        made: at('outside/made'),
        port,
        sockets: paths,
        abstract: id,
        victim: victim.pid as number,
        mark,
      },
      seen: () => ({ made: existsSync(at('outside/made')), connections }),
      remove,
    }
  } catch (error) {
    await remove()
    throw error
  }
}

/** Where the baits of a home are laid. */
export const baitFolder = (home: string) => join(home, 'self-test')

/** No test lasts as long, so whoever laid it is gone. */
const abandonedMs = 120_000

/** Removes what tests left that were killed. */
export async function removeLeftBaits(home: string, now: number): Promise<void> {
  const names = await readdir(baitFolder(home)).catch(ifMissing)
  for (const path of (names ?? []).map((name) => join(baitFolder(home), name))) {
    const laid = await stat(path).catch(ifMissing)
    if (laid && now - laid.mtimeMs > abandonedMs) await removeTree(path)
  }
}

function ifMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}

/** A bait that is not there would make every wall look strong. */
async function answers(where: { path: string } | { port: number; host: string }): Promise<void> {
  const socket = connect(where)
  await once(socket, 'data')
  socket.destroy()
}
