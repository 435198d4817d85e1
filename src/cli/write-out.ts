/** For much output: waits while the reader is slow. False when the reader has left, which leaves nothing to be done. */
export async function writeOut(piece: string | Uint8Array): Promise<boolean> {
  const { stdout } = process
  if (!stdout.writable) return false
  if (stdout.write(piece)) return true
  const { promise, resolve } = Promise.withResolvers<void>()
  // A pipe whose reader left never drains: it is closed.
  const go = () => {
    stdout.off('drain', go)
    stdout.off('close', go)
    resolve()
  }
  stdout.once('drain', go)
  stdout.once('close', go)
  await promise
  return stdout.writable
}
