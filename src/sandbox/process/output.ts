import { Readable } from 'node:stream'
import type { Clock } from '../../base/clock.ts'

const quietMs = 250
const longestMs = 2000
/** More than any pipe holds: what comes beyond it after the exit was not written by the process itself. */
const mostBytes = 8 * 1024 * 1024

/**
 * What a process writes, ending soon after the process does: a grandchild that keeps the pipe open would otherwise never let a reader end.
 * After the exit it ends once the pipe was quiet for a while, at the latest after two seconds. Time in which the reader was the slow
 * one does not count, so nothing that the process wrote is lost.
 */
export function endingOutput(pipe: Readable, exited: Promise<unknown>, clock: Clock): Readable {
  let hasExited = false
  let ended = false
  let bytesAfterExit = 0
  let readMsAfterExit = 0
  let readingSince = 0
  let watching = false
  let cancelQuiet = () => {}
  let cancelLongest = () => {}

  const output = new Readable({
    read: resume,
    destroy(error, done) {
      end()
      done(error)
    },
  })
  pipe.on('data', (chunk: Buffer) => {
    if (hasExited) bytesAfterExit += chunk.length
    if (watching) watchQuiet()
    if (!output.push(chunk)) pause()
    if (bytesAfterExit > mostBytes) end()
  })
  pipe.on('end', end)
  // A pipe that breaks has no more to say; how the process ended is told by its exit.
  pipe.on('error', end)
  pipe.pause()
  void exited.then(() => {
    hasExited = true
    if (!ended && !watching && !pipe.isPaused()) watch()
  })
  return output

  function resume(): void {
    if (ended) return
    pipe.resume()
    if (hasExited && !watching) watch()
  }
  function pause(): void {
    pipe.pause()
    if (watching) readMsAfterExit += clock.monotonic() - readingSince
    unwatch()
  }
  function watch(): void {
    watching = true
    readingSince = clock.monotonic()
    watchQuiet()
    cancelLongest = clock.after(Math.max(0, longestMs - readMsAfterExit), () => setImmediate(end))
  }
  function watchQuiet(): void {
    cancelQuiet()
    const before = bytesAfterExit
    // If this thread itself was held up, what the process wrote is still to be read: so one look at the pipe between the timer and the end.
    cancelQuiet = clock.after(quietMs, () => setImmediate(() => bytesAfterExit === before && end()))
  }
  function unwatch(): void {
    watching = false
    cancelQuiet()
    cancelLongest()
  }
  function end(): void {
    if (ended) return
    ended = true
    unwatch()
    pipe.destroy()
    output.push(null)
  }
}
