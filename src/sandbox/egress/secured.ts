import { isIP, type Socket } from 'node:net'
import { connect as tlsConnect } from 'node:tls'
import { unavailable } from '../../domain/error.ts'
import { connected } from './address.ts'

/** TLS on a connection that is there; the certificate must be that of the host. */
export async function secured(socket: Socket, hostname: string, signal: AbortSignal): Promise<Socket> {
  const name = hostname.replace(/^\[|\]$/g, '')
  const names = isIP(name) ? { host: name } : { host: name, servername: name }
  const secure = tlsConnect({ socket, ...names, ALPNProtocols: ['http/1.1'] })
  await connected(secure, 'secureConnect', signal).catch(() => {
    socket.destroy()
    throw unavailable(`${hostname} offers no connection that can be trusted.`)
  })
  return secure
}
