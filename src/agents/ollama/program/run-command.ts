import { spawn } from 'node:child_process'

export interface Ended {
  readonly output: string
  readonly code: number | null
  readonly timedOut: boolean
}

/** How long a group that was asked to end is waited for. */
const graceMs = 500

/** Runs a program in a process group of its own, both outputs together, with no more kept of them than is allowed. Nothing of the group is left when it is over or aborted. */
export function runCommand(
  file: string,
  args: readonly string[],
  options: { cwd: string; timeoutMs: number; maxBytes: number; signal: AbortSignal },
): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { cwd: options.cwd, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
    const kept = keep(options.maxBytes)
    let timedOut = false
    let killing: NodeJS.Timeout | undefined
    const end = (signal: NodeJS.Signals) => {
      if (child.pid === undefined) return
      try {
        process.kill(-child.pid, signal)
      } catch (thrown) {
        if ((thrown as NodeJS.ErrnoException).code !== 'ESRCH') throw thrown
      }
    }
    const stop = () => {
      end('SIGTERM')
      killing ??= setTimeout(() => end('SIGKILL'), graceMs)
    }
    const timer = setTimeout(() => {
      timedOut = true
      stop()
    }, options.timeoutMs)
    options.signal.addEventListener('abort', stop)
    const settle = () => {
      clearTimeout(timer)
      clearTimeout(killing)
      options.signal.removeEventListener('abort', stop)
    }
    child.stdout.on('data', kept.add)
    child.stderr.on('data', kept.add)
    child.on('error', (thrown) => {
      settle()
      reject(thrown)
    })
    // Not `close`: what it left running in the background may hold the pipes for ever.
    child.on('exit', (code) => {
      setImmediate(() => {
        settle()
        end('SIGKILL')
        child.stdout.destroy()
        child.stderr.destroy()
        resolve({ output: kept.text(), code, timedOut })
      })
    })
    if (options.signal.aborted) stop()
  })
}

/** The beginning and the end of a stream of bytes. */
function keep(maxBytes: number) {
  const half = Math.floor(maxBytes / 2)
  const head: Buffer[] = []
  let headBytes = 0
  const tail: Buffer[] = []
  let tailBytes = 0
  let total = 0
  return {
    add(chunk: Buffer) {
      total += chunk.length
      const room = Math.min(half - headBytes, chunk.length)
      if (room > 0) {
        head.push(chunk.subarray(0, room))
        headBytes += room
      }
      const rest = chunk.subarray(Math.max(room, 0))
      if (rest.length === 0) return
      tail.push(rest)
      tailBytes += rest.length
      while (tailBytes - tail[0]!.length >= half) tailBytes -= tail.shift()!.length
    },
    text() {
      const end = Buffer.concat(tail).subarray(-half)
      const left = total - headBytes - end.length
      const note = left > 0 ? `\n[… ${left} bytes left out …]\n` : ''
      return left > 0
        ? Buffer.concat(head).toString('utf8') + note + end.toString('utf8')
        : Buffer.concat([...head, end]).toString('utf8')
    },
  }
}
