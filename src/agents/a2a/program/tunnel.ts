import { request } from 'node:http'
import type { Socket } from 'node:net'
import { Failure, reasonOf } from './failure.ts'

/** A connection through the door, which decides whether the profile allows it and looks the name up. */
export function tunnelTo(proxy: string, target: string, signal: AbortSignal | undefined): Promise<Socket> {
  const { hostname: host, port } = new URL(proxy)
  return new Promise((resolve, reject) => {
    const asked = request({ host, port, method: 'CONNECT', path: target, headers: { host: target }, agent: false, signal })
    asked.on('connect', ({ statusCode = 0 }, socket, head) => {
      if (statusCode === 200) resolve(socket)
      else readRest(socket, head, (said) => reject(refusal(target, statusCode, said)))
    })
    asked.on('error', (error) => reject(signal?.aborted ? error : noWay(target, reasonOf(error))))
    asked.end()
  })
}

/** A refusal says why in its body, and ends with its connection. */
function readRest(socket: Socket, head: Buffer, tell: (text: string) => void): void {
  const chunks = [head]
  socket.on('data', (chunk: Buffer) => void (chunks.length < 16 && chunks.push(chunk)))
  socket.on('error', () => socket.destroy())
  socket.on('close', () => tell(Buffer.concat(chunks).toString('utf8').trim().slice(0, 1_000)))
}

function refusal(target: string, status: number, said: string): Failure {
  if (status === 403) return new Failure('permission_denied', said || `This run may not connect to ${target}.`)
  return noWay(target, said || `the proxy answered ${status}`)
}

const noWay = (target: string, why: string) =>
  new Failure('network', `There is no way to ${target}: ${why.replace(/\.$/, '')}.`, { isPassing: true })
