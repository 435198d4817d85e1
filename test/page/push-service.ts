import { createDecipheriv, createECDH, createPublicKey, hkdfSync, randomBytes, verify } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { NewPush } from '../../src/domain/notification/push.ts'

/** What a browser would have been shown, and what its push service was told. */
export interface Pushed {
  readonly payload: { title: string; body: string; tag: string; path: string }
  readonly headers: NodeJS.Dict<string | string[]>
  readonly claims: { aud: string; exp: number; sub: string }
}

/** A push service on loopback together with the browser behind it: it reads a message only with the private key of that browser, and refuses one that is not signed. */
export async function startPushService() {
  const pair = createECDH('prime256v1')
  pair.generateKeys()
  const auth = randomBytes(16)
  const pushed: Pushed[] = []
  let status = 201
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      try {
        const claims = claimsIn(String(request.headers.authorization))
        const payload = JSON.parse(decrypt(Buffer.concat(chunks))) as Pushed['payload']
        pushed.push({ payload, headers: request.headers, claims })
        response.writeHead(status).end()
      } catch {
        response.writeHead(400).end()
      }
    })
  })
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  /** RFC 8291, from the browser's side. */
  function decrypt(body: Buffer): string {
    const salt = body.subarray(0, 16)
    const length = body[20]!
    const theirs = body.subarray(21, 21 + length)
    const sealed = body.subarray(21 + length)
    const derive = (key: Buffer, with_: Buffer, info: Buffer, bytes: number) =>
      Buffer.from(hkdfSync('sha256', key, with_, info, bytes))
    const info = Buffer.concat([Buffer.from('WebPush: info\0'), pair.getPublicKey(), theirs])
    const material = derive(pair.computeSecret(theirs), auth, info, 32)
    const key = derive(material, salt, Buffer.from('Content-Encoding: aes128gcm\0'), 16)
    const nonce = derive(material, salt, Buffer.from('Content-Encoding: nonce\0'), 12)
    const decipher = createDecipheriv('aes-128-gcm', key, nonce)
    decipher.setAuthTag(sealed.subarray(-16))
    const plain = Buffer.concat([decipher.update(sealed.subarray(0, -16)), decipher.final()])
    return plain.subarray(0, plain.lastIndexOf(2)).toString()
  }

  return {
    origin,
    pushed,
    /** What it answers from now on. */
    answers: (next: number) => {
      status = next
    },
    subscription: (path: string): NewPush => ({
      endpoint: `${origin}${path}`,
      keys: { p256dh: pair.getPublicKey('base64url'), auth: auth.toString('base64url') },
    }),
    stop: () =>
      new Promise<void>((done) => {
        server.close(() => done())
        server.closeAllConnections()
      }),
  }
}

/** RFC 8292: the token must be signed with the key that is named beside it. */
function claimsIn(authorization: string): Pushed['claims'] {
  const [, token = '', key = ''] = /^vapid t=([^,]+), k=(.+)$/.exec(authorization) ?? []
  const [head, body, signature] = token.split('.') as [string, string, string]
  const point = Buffer.from(key, 'base64url')
  const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((part) => part.toString('base64url')) as [string, string]
  const publicKey = createPublicKey({ key: { kty: 'EC', crv: 'P-256', x, y }, format: 'jwk' })
  const isSigned = verify(
    'sha256',
    Buffer.from(`${head}.${body}`),
    { key: publicKey, dsaEncoding: 'ieee-p1363' },
    Buffer.from(signature, 'base64url'),
  )
  if (!isSigned) throw new Error('not signed')
  return JSON.parse(Buffer.from(body, 'base64url').toString()) as Pushed['claims']
}
