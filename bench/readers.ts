import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** Prints ten lines a second for so long, each with the time of its printing. */
export const speaker = (forMs: number) =>
  `const until = Date.now() + ${forMs}; const timer = setInterval(() => { process.stdout.write('at=' + Date.now() + ';\\n'); if (Date.now() > until) clearInterval(timer) }, 100)`

/** Opens readers of what speakers say, waits until all of them hear, then takes the times from printed to read for some seconds. `request` is what each sends. */
export async function readSpeakers(
  { url, readers, seconds, patienceMs }: { url: string; readers: number; seconds: number; patienceMs: number },
  request: (reader: number) => string,
  around: { begin?: () => void; end?: () => void } = {},
): Promise<number[]> {
  const { hostname, port } = new URL(url)
  const delays: number[] = []
  const sockets: Socket[] = []
  let heard = 0
  let counting = false
  for (let n = 0; n < readers; n++) {
    const socket = connect(Number(port), hostname)
    sockets.push(socket)
    socket.write(request(n))
    let first = true
    socket.setEncoding('latin1')
    socket.on('data', (text: string) => {
      const now = Date.now()
      for (let at = text.indexOf('at='); at !== -1; at = text.indexOf('at=', at + 3)) {
        if (first) heard++
        first = false
        if (counting) delays.push(now - Number(text.slice(at + 3, at + 16)))
      }
    })
    await once(socket, 'connect')
  }
  for (const deadline = Date.now() + patienceMs; heard < readers; await pause(50)) {
    if (Date.now() > deadline) throw new Error(`Only ${heard} of ${readers} readers hear anything.`)
  }
  // What a late reader had to catch up on is not counted.
  await pause(2_000)
  around.begin?.()
  counting = true
  await pause(seconds * 1_000)
  counting = false
  around.end?.()
  for (const socket of sockets) socket.destroy()
  return delays
}

const pause = (forMs: number) => new Promise((done) => setTimeout(done, forMs))
