import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Sandbox, Walls } from '../../src/sandbox/port.ts'
import { processesOf } from '../../src/sandbox/process/tree.ts'
import type { Attempt } from './siege.ts'
import type { World } from './world.ts'

type Shell = (script: string, changes?: Partial<Walls>) => Promise<string>

/** Each takes more than the walls allow and says `all` if it got it. */
const greedy: Record<string, string> = {
  processes: `perl -e 'for (1..200) { $p = fork; if (!defined $p) { kill 9, @p; exit } if (!$p) { sleep 20; exit } push @p, $p } kill 9, @p; print "all"'`,
  descriptors: `perl -e 'for (1..300) { open $f[$_], "<", "/dev/null" or exit } print "all"'`,
  memory: `perl -e '$m = "x" x (200 << 20); sleep 3; print "all"'`,
  'one large file': `perl -e '$SIG{XFSZ} = "IGNORE"; open $f, ">", "large" or exit; seek $f, 65 << 20, 0; syswrite $f, "x" or exit; print "all"'; rm -f large`,
}
const mostTemporaryBytes = 4 * 1024 ** 3

export async function exhaust(shell: Shell, world: World): Promise<Attempt[]> {
  const found: Attempt[] = []
  for (const [what, script] of Object.entries(greedy)) {
    const limits = { ...world.walls.limits, ...(what === 'memory' ? { memoryBytes: 128 * 1024 * 1024 } : {}) }
    found.push({ row: 45, open: (await shell(script, { limits })) === 'all', what, detail: '' })
  }
  // What is written to a file system in memory is taken from everybody.
  const sizes = await shell(`for d in /tmp /dev /dev/shm /run /var/tmp; do [ -w $d ] && df -PkT $d | tail -n 1; done`)
  const inMemory = [...sizes.matchAll(/tmpfs\s+(\d+).*\s(\S+)$/gm)].map(([, size, path]) => ({
    path,
    bytes: Number(size) * 1024,
  }))
  for (const { path, bytes } of inMemory)
    found.push({ row: 45, open: bytes > mostTemporaryBytes, what: `memory through files in ${path}`, detail: `${bytes} bytes` })
  return found
}

const beating = (go: string, beat: string) =>
  `(setsid sh -c 'trap "" TERM HUP INT; while [ -e "${go}" ]; do echo x >> "${beat}"; sleep 0.02; done' &); while [ ! -e "${beat}" ]; do sleep 0.01; done`

/** Forks twice, leaves its session, ignores signals. */
export async function survive(sandbox: Sandbox, world: World): Promise<Attempt[]> {
  const files = (name: string) => [join(world.workspace, `${name}.go`), join(world.workspace, `${name}.beat`)] as const
  const [go, beat] = files('walled')
  writeFileSync(go, '')
  const { child } = await sandbox.launch({ file: 'sh', args: ['-c', beating(go, beat)], env: {} }, world.walls)
  child.stdout.resume()
  child.stderr.resume()
  await child.exited
  await child.stop({ graceMs: 100 })
  const left = await processesOf(world.walls.unit)
  const isBeating = await beats(beat)
  rmSync(go)
  return [
    { row: 46, open: left.length > 0 || isBeating, what: 'a process that left its session lives on', detail: left.join(' ') },
  ]
}

export async function surviveFreely(world: World): Promise<Attempt[]> {
  const [go, beat] = [join(world.elsewhere, 'free.go'), join(world.elsewhere, 'free.beat')]
  writeFileSync(go, '')
  const child = spawn('sh', ['-c', beating(go, beat)], { stdio: 'ignore', detached: true })
  await once(child, 'exit')
  try {
    process.kill(-(child.pid as number), 'SIGKILL')
  } catch (error) {
    // The group is empty: whoever was in it has left.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
  const isBeating = await beats(beat)
  rmSync(go)
  return [{ row: 46, open: isBeating, what: 'a process that left its session lives on', detail: '' }]
}

async function beats(file: string): Promise<boolean> {
  const size = () => (existsSync(file) ? readFileSync(file).length : 0)
  const before = size()
  await wait(300)
  return size() > before
}

/** Whatever is done to the first process inside: a stop from outside ends it. */
export async function hang(sandbox: Sandbox, world: World): Promise<Attempt[]> {
  const ways = {
    'stop the first process': 'kill -STOP 1; kill -STOP $$',
    'trace the first process': `perl -e 'syscall(101, 16, 1, 0, 0); syscall(117, 16, 1, 0, 0); print "done\\n"; kill STOP => $$'`,
    'freeze everything': 'kill -STOP -1; kill -STOP $$',
  }
  return Promise.all(
    Object.entries(ways).map(async ([what, script]): Promise<Attempt> => {
      const unit = sandbox.killUnit(`hang-${what.length}-${process.pid}`, 1)
      const { child } = await sandbox.launch({ file: 'sh', args: ['-c', script], env: {} }, { ...world.walls, unit })
      child.stdout.resume()
      child.stderr.resume()
      await wait(150)
      const ended = await Promise.race([child.stop({ graceMs: 50 }).then(() => true), wait(10_000, false)])
      const left = await processesOf(unit)
      return { row: 47, open: !ended || left.length > 0, what, detail: left.join(' ') }
    }),
  )
}
