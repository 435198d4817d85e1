import { createSign, generateKeyPairSync, randomBytes } from 'node:crypto'

/** A certificate that vouches for itself, and its key: made by hand, because Node reads certificates and writes none. */
export function selfSigned(name: string): { cert: string; key: string } {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const subject = sequence(tagged(0x31, sequence(oid(0x55, 0x04, 0x03), tagged(0x0c, Buffer.from(name)))))
  const algorithm = sequence(oid(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02))
  const time = (year: number) => tagged(0x18, Buffer.from(`${year}0101000000Z`))
  const body = sequence(
    tagged(0xa0, integer(Buffer.from([2]))),
    integer(Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    algorithm,
    subject,
    sequence(time(2020), time(2120)),
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
  )
  const signature = createSign('sha256').update(body).sign(privateKey)
  const whole = sequence(body, algorithm, tagged(0x03, Buffer.concat([Buffer.from([0]), signature])))
  const lines = whole.toString('base64').match(/.{1,64}/g)!
  const cert = `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`
  return { cert, key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() }
}

function tagged(tag: number, content: Buffer): Buffer {
  const size = content.length
  const length = size < 128 ? [size] : size < 256 ? [0x81, size] : [0x82, size >> 8, size & 255]
  return Buffer.concat([Buffer.from([tag, ...length]), content])
}
const sequence = (...parts: Buffer[]) => tagged(0x30, Buffer.concat(parts))
const integer = (bytes: Buffer) => tagged(0x02, bytes)
const oid = (...bytes: number[]) => tagged(0x06, Buffer.from(bytes))
