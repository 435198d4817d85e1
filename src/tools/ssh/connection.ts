import { mkdtemp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { type Clock, systemClock } from '../../base/clock.ts'
import { invalid } from '../../domain/error.ts'
import type { SshAccess } from '../../domain/profile/profile.ts'
import { removeTree } from '../../sandbox/files/remove-tree.ts'
import { findProgram, systemPath } from '../../sandbox/process/program.ts'
import { start } from '../../sandbox/process/spawn.ts'
import { signal as kill } from '../../sandbox/process/tree.ts'

export type SshHost = SshAccess['hosts'][number]

export interface SshOptions {
  /** A folder of ours for the time of a connection; the key is in it and goes with it. */
  readonly folder: string
  /** The private key, by its name in the secret store. */
  readonly key: (name: string) => Promise<string>
  readonly clock?: Clock
}

export interface SshRan {
  readonly output: string
  readonly errors: string
  readonly code: number | null
  readonly ended: 'itself' | 'timeout' | 'too_much' | 'cancelled'
}

const mostBytes = 1024 * 1024

/** Runs one command on a host, over a connection of its own. The system's ssh is run by us, never by the agent, and reads no settings but these. */
export async function runOver(
  host: SshHost,
  command: string,
  { folder, key, clock = systemClock }: SshOptions,
  limits: { timeoutMs: number; signal: AbortSignal },
): Promise<SshRan> {
  limits.signal.throwIfAborted()
  check(host)
  const file = await findProgram('ssh', { path: systemPath, folder: '/' })
  const own = await mkdtemp(join(folder, 'ssh-'))
  try {
    const [keyFile, knownHosts] = [join(own, 'key'), join(own, 'known_hosts')]
    const text = await key(host.key)
    await writeFile(keyFile, text.endsWith('\n') ? text : `${text}\n`, { mode: 0o600, flag: 'wx' })
    await writeFile(knownHosts, `${alias} ${host.hostKey.trim()}\n`, { mode: 0o600, flag: 'wx' })
    const started = await start({
      file,
      args: argumentsFor(host, command, { keyFile, knownHosts }),
      env: { PATH: systemPath, HOME: own, LANG: 'C.UTF-8' },
      cwd: own,
      clock,
    })
    let ended: SshRan['ended'] = 'itself'
    const end = (why: SshRan['ended']) => {
      if (ended === 'itself') ended = why
      kill(-started.pid, 'SIGKILL')
    }
    const cancelled = () => end('cancelled')
    const cancel = clock.after(limits.timeoutMs, () => end('timeout'))
    limits.signal.addEventListener('abort', cancelled, { once: true })
    if (limits.signal.aborted) cancelled()
    try {
      started.stdin.end()
      const tooMuch = () => end('too_much')
      const [output, errors] = await Promise.all([beginningOf(started.stdout, tooMuch), beginningOf(started.stderr, tooMuch)])
      const { code } = await started.exited
      return { output, errors, code, ended }
    } finally {
      cancel()
      limits.signal.removeEventListener('abort', cancelled)
      started.stdout.destroy()
      started.stderr.destroy()
    }
  } finally {
    await removeTree(own)
  }
}

/** The pinned key is found under this name, whatever the host is called. */
const alias = 'pawl-host'

export function argumentsFor(
  { host, port, user }: SshHost,
  command: string,
  files: { keyFile: string; knownHosts: string },
): string[] {
  const options = {
    BatchMode: 'yes',
    StrictHostKeyChecking: 'yes',
    HostKeyAlias: alias,
    UserKnownHostsFile: files.knownHosts,
    GlobalKnownHostsFile: '/dev/null',
    UpdateHostKeys: 'no',
    VerifyHostKeyDNS: 'no',
    IdentityFile: files.keyFile,
    IdentitiesOnly: 'yes',
    IdentityAgent: 'none',
    PreferredAuthentications: 'publickey',
    ForwardAgent: 'no',
    ForwardX11: 'no',
    ClearAllForwardings: 'yes',
    Tunnel: 'no',
    PermitLocalCommand: 'no',
    ProxyCommand: 'none',
    ProxyJump: 'none',
    CanonicalizeHostname: 'no',
    ControlMaster: 'no',
    ControlPath: 'none',
    RequestTTY: 'no',
    EscapeChar: 'none',
    ConnectTimeout: '15',
    ConnectionAttempts: '1',
    ServerAliveInterval: '15',
    LogLevel: 'ERROR',
  }
  const given = Object.entries(options).flatMap(([name, value]) => ['-o', `${name}=${value}`])
  return ['-F', '/dev/null', ...given, '-p', String(port), '-l', user, '--', host, command]
}

function check({ name, host, user, port, hostKey }: SshHost): void {
  const refuse = (what: string) => invalid(`The SSH host "${name}" of the profile has a ${what} that cannot be used; correct it.`)
  if (!/^[A-Za-z0-9][A-Za-z0-9._:-]{0,252}$/.test(host)) throw refuse('host')
  if (!/^[A-Za-z_][A-Za-z0-9._-]{0,63}$/.test(user)) throw refuse('user')
  if (!Number.isInteger(port) || port < 1 || port > 65_535) throw refuse('port')
  if (!/^(ssh|ecdsa|sk-ssh|sk-ecdsa)-[a-z0-9@.-]+ [A-Za-z0-9+/=]{40,}( [^\n\r]*)?$/.test(hostKey.trim())) throw refuse('hostKey')
}

async function beginningOf(stream: Readable, tooMuch: () => void): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    chunks.push(chunk.subarray(0, Math.max(0, mostBytes - size)))
    size += chunk.length
    if (size > mostBytes) tooMuch()
  }
  return Buffer.concat(chunks).toString('utf8')
}
