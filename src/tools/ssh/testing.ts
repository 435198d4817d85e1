import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sleep, systemClock } from '../../base/clock.ts'

/** A server of our own, on the loopback, that lets in the user of this test with the key `user` of its folder. */
export interface Sshd {
  readonly port: number
  readonly folder: string
  /** The public key of that name: `host` is its own, `other` nobody's. */
  keyOf(name: 'host' | 'other' | 'user'): Promise<string>
  stop(): Promise<void>
}

export async function startSshd(): Promise<Sshd> {
  const base = await mkdtemp(join(tmpdir(), 'pawl-ssh-'))
  for (const name of ['host', 'other', 'user'])
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(base, name)])
  await writeFile(join(base, 'authorized'), await readFile(join(base, 'user.pub')))
  const port = await freePort()
  const settings = [
    ...[`ListenAddress 127.0.0.1:${port}`, `HostKey ${base}/host`, `AuthorizedKeysFile ${base}/authorized`, 'PidFile none'],
    ...['StrictModes no', 'UsePAM no', 'PasswordAuthentication no', 'PermitRootLogin prohibit-password', 'LogLevel QUIET'],
  ]
  await writeFile(join(base, 'sshd_config'), `${settings.join('\n')}\n`)
  const sshd = ['/usr/sbin/sshd', '-D', '-f', join(base, 'sshd_config')]
  // As root it wants a folder in /run, which it gets in a view of its own: nothing stays on the machine.
  const inView = 'mount -t tmpfs tmpfs /run && mkdir -m 755 /run/sshd && exec "$@"'
  const [file, ...args] = process.getuid?.() === 0 ? ['unshare', '-m', 'sh', '-c', inView, 'sh', ...sshd] : sshd
  const server = spawn(file!, args, { stdio: ['ignore', 'ignore', 'inherit'] })
  while (server.exitCode === null && !(await canConnect(port))) await sleep(systemClock, 20)
  return {
    port,
    folder: base,
    keyOf: async (name) => (await readFile(join(base, `${name}.pub`), 'utf8')).trim(),
    async stop() {
      server.kill('SIGKILL')
      if (server.exitCode === null && server.signalCode === null) await once(server, 'exit')
      await rm(base, { recursive: true, force: true })
    },
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

function canConnect(port: number): Promise<boolean> {
  return new Promise((tell) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => tell(true)).once('error', () => tell(false))
    socket.once('connect', () => socket.destroy())
  })
}
