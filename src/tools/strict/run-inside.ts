import type { Readable } from 'node:stream'
import { type Clock, systemClock } from '../../base/clock.ts'
import type { Child } from '../../sandbox/process/child.ts'
import type { RunInside } from './strict-parts.ts'

const graceMs = 2_000

/** `launch` starts a command in walls like those of the run, in its workspace; the shell gets no more of the run's environment than it is given there. */
export function createRunInside(
  launch: (command: { file: string; args: readonly string[] }) => Promise<Child>,
  clock: Clock = systemClock,
): RunInside {
  return async (command, { timeoutMs, signal, mostBytes }) => {
    signal.throwIfAborted()
    const child = await launch({ file: 'bash', args: ['-c', command] })
    let timedOut = false
    const end = () => void child.stop({ graceMs }).catch(() => {})
    const cancel = clock.after(timeoutMs, () => {
      timedOut = true
      end()
    })
    signal.addEventListener('abort', end, { once: true })
    if (signal.aborted) end()
    try {
      child.stdin.end()
      const [stdout, stderr] = await Promise.all([endsOf(child.stdout, mostBytes), endsOf(child.stderr, mostBytes)])
      const exit = await child.exited
      return { stdout, stderr, code: exit.code, signal: exit.signal, timedOut }
    } finally {
      cancel()
      signal.removeEventListener('abort', end)
      await child.stop({ graceMs: 0 })
    }
  }
}

/** All of it, or its beginning and its end: a flood costs us no more memory than a trickle. */
async function endsOf(stream: Readable, mostBytes: number): Promise<string> {
  const half = Math.floor(mostBytes / 2)
  const head: Buffer[] = []
  const tail: Buffer[] = []
  let [headSize, tailSize, dropped] = [0, 0, 0]
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    const first = chunk.subarray(0, half - headSize)
    head.push(first)
    headSize += first.length
    const rest = chunk.subarray(first.length)
    tail.push(rest)
    tailSize += rest.length
    while (tailSize - (tail[0]?.length ?? 0) >= half) {
      const gone = tail.shift()!.length
      tailSize -= gone
      dropped += gone
    }
  }
  const end = Buffer.concat(tail)
  const over = Math.max(0, end.length - half)
  const mark = dropped + over > 0 ? `\n… ${dropped + over} bytes left out …\n` : ''
  return Buffer.concat(head).toString('utf8') + mark + end.subarray(over).toString('utf8')
}
