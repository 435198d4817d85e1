import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { chmodSync, copyFileSync, lchownSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { networkInterfaces } from 'node:os'
import { dirname, join } from 'node:path'
import { hostPath, inPlace } from '../../src/domain/base/path.ts'
import type { Identity } from '../../src/sandbox/bubblewrap/mounts.ts'
import type { Sandbox, Walls } from '../../src/sandbox/port.ts'

/** Everything that a hostile agent would like to have, really there, next to a workspace that it may use. */
export interface World {
  readonly canary: string
  readonly base: string
  readonly workspace: string
  readonly elsewhere: string
  readonly store: string
  readonly walls: Walls
  /** What the attacks are told: an attacker knows where things are. */
  readonly arguments: readonly string[]
  /** What happened outside since the last call. */
  heard(): { readonly signals: number; readonly queries: number }
  close(): Promise<void>
}

/** Not below /tmp, which is the agent's own inside: what is hidden there proves nothing. */
const parent = '/var/tmp'

/** All that lies outside belongs to the user whom the agent is: the walls, not the owner, must keep it away. */
export async function createWorld(sandbox: Sandbox, user: Identity | undefined): Promise<World> {
  const canary = `canary-${randomUUID()}`
  const base = mkdtempSync(join(parent, 'pawl-escape-'))
  chmodSync(base, 0o755)
  const made: string[] = []
  const put = (path: string, text = `${canary}\n`) => {
    mkdirSync(dirname(join(base, path)), { recursive: true })
    writeFileSync(join(base, path), text)
    made.push(path)
    return join(base, path)
  }
  const folder = (path: string) => {
    mkdirSync(join(base, path), { recursive: true })
    return join(base, path)
  }
  const [person, elsewhere, store] = [folder('person'), folder('elsewhere'), folder('person/.pawl')]
  const secrets = [
    '.ssh/id_ed25519',
    '.aws/credentials',
    '.config/tool/token',
    '.netrc',
    '.claude/.credentials.json',
    '.codex/auth.json',
  ]
  const secretFiles = [...secrets.map((name) => put(`person/${name}`)), put('elsewhere/note')]
  const storeFiles = ['data/base/1', 'pawl.log', 'token', 'config.yaml', 'secrets/key'].map((name) => put(`person/.pawl/${name}`))
  const siblings = ['workspaces/other/notes.txt', 'runs/other/raw.log', 'sessions/other/.claude.json', 'runs/other/token'].map(
    (name) => put(`person/.pawl/${name}`),
  )
  const workspace = folder('person/project')
  const home = folder('person/.pawl/sessions/own')
  const setuid = user ? setuidProgram(join(workspace, 'id')) : undefined

  const sockets: Server[] = []
  const listen = async (address: string | { port: number; host: string }) => {
    const server = createServer((socket) => void socket.on('error', () => socket.destroy()).end(canary))
    server.listen(address as string)
    await once(server, 'listening')
    sockets.push(server)
    return server
  }
  const control = join(store, 'control.sock')
  const agent = join(elsewhere, 'agent.sock')
  const shared = 0x70000000 + Math.floor(Math.random() * 0xfffff)
  const inMemory = `/dev/shm/pawl-escape-${canary}`
  writeFileSync(inMemory, canary)
  if (user) lchownSync(inMemory, user.uid, user.gid)
  const abstract = `pawl-escape-${randomUUID()}`
  await Promise.all([listen(control), listen(agent), listen(`\0${abstract}`)])
  chmodSync(control, 0o777)
  chmodSync(agent, 0o777)
  const tcp = await listen({ port: 0, host: '::' }).catch(() => listen({ port: 0, host: '0.0.0.0' }))

  const noticed = { signals: 0, queries: 0 }
  const names = createSocket('udp4')
  names.on('message', () => void noticed.queries++)
  names.bind(0, '127.0.0.1')
  await once(names, 'listening')

  if (user) for (const entry of readdirSync(base, { recursive: true }) as string[]) giveTo(join(base, entry), user, setuid)
  const victim = await startVictim(shared, elsewhere, canary, user, noticed)
  const addresses = Object.values(networkInterfaces()).flatMap((list) =>
    (list ?? []).filter((one) => one.family === 'IPv4' && !one.internal),
  )

  return {
    canary,
    base,
    workspace,
    elsewhere,
    store,
    heard() {
      const { signals, queries } = noticed
      noticed.signals = noticed.queries = 0
      return { signals, queries }
    },
    walls: {
      unit: sandbox.killUnit(`escape-${randomUUID()}`, 1),
      workspace: inPlace(workspace),
      home: hostPath(home),
      hidden: [hostPath(store), hostPath(person)],
      user,
      network: 'none',
      door: false,
      limits: { processes: 128, openFiles: 256, memoryBytes: 768 * 1024 * 1024, fileBytes: 64 * 1024 * 1024 },
    },
    arguments: Object.entries({
      workspace,
      canary,
      elsewhere,
      abstract,
      shared,
      shm: inMemory,
      victim: victim.pid,
      secrets: secretFiles.join(':'),
      outside: [join(person, 'made'), join(elsewhere, 'made'), join(store, 'made')].join(':'),
      covers: [person, store, workspace].join(':'),
      port: (tcp.address() as AddressInfo).port,
      dns: names.address().port,
      addresses: addresses.map(({ address }) => address).join(':'),
      sockets: [control, agent].join(':'),
      setuid: setuid ?? '',
      siblings: [...siblings, ...siblings.map((path) => dirname(path))].join(':'),
      store: storeFiles.join(':'),
      ours: [join(store, 'config.yaml'), process.execPath, '/usr/bin/bwrap', '/bin/sh', import.meta.filename].join(':'),
      oursDirs: [dirname(process.execPath), '/usr/local/bin', store, import.meta.dirname, person].join(':'),
    }).map(([name, value]) => `${name}=${value}`),
    async close() {
      // Whoever traced it may have left it stopped.
      victim.kill('SIGTERM')
      victim.kill('SIGCONT')
      await once(victim, 'exit')
      rmSync(inMemory, { force: true })
      names.close()
      await Promise.all(sockets.map((server) => new Promise((closed) => server.close(closed))))
      rmSync(base, { recursive: true, force: true })
    },
  }
}

/** A living process of the same user, whose directory, environment and arguments are worth reading. */
async function startVictim(
  shared: number,
  cwd: string,
  canary: string,
  user: Identity | undefined,
  noticed: { signals: number },
): Promise<ChildProcess> {
  const program =
    'my $id = shmget($ARGV[1], 100, 0600 | 01000); $SIG{TERM} = sub { shmctl($id, 0, 0); exit }; $| = 1; $SIG{USR1} = sub { print "signal\\n" }; print "up\\n"; sleep 1 while 1'
  const victim = spawn('perl', ['-e', program, 'secret-argument', String(shared)], {
    cwd,
    env: { CANARY: canary },
    stdio: ['ignore', 'pipe', 'ignore'],
    ...(user ?? {}),
  })
  const up = once(victim.stdout, 'data')
  victim.stdout.on('data', (said: Buffer) => {
    noticed.signals += said.toString().split('signal').length - 1
  })
  await up
  return victim
}

/** A program that makes root of whoever may gain rights by executing. */
function setuidProgram(path: string): string {
  copyFileSync('/usr/bin/id', path)
  chmodSync(path, 0o4755)
  return path
}

function giveTo(path: string, user: Identity, except: string | undefined): void {
  if (path !== except) lchownSync(path, user.uid, user.gid)
}
