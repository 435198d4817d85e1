import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { startCanary } from '../../src/sandbox/egress/testing.ts'
import { rows } from './rows.ts'
import { type WalledPlace, walledPlace } from './walled-door.ts'

const program = readFileSync(join(import.meta.dirname, 'attacks/way-out.cjs'), 'utf8')
const named = (row: number, end: string) => `${row}. ${rows.find((one) => one.row === row)?.attempt}: ${end}`
let place: WalledPlace
let canary: Awaited<ReturnType<typeof startCanary>>

beforeEach(async () => {
  place = walledPlace()
  canary = await startCanary()
})
afterEach(async () => {
  await canary.close()
  place.remove()
})

/** What was reached, by way and host. Everything lies on this machine, so a name that gets through is seen. */
async function ask(
  hosts: readonly string[],
  wayOut: Parameters<WalledPlace['run']>[1],
  ports = [canary.port],
): Promise<string[]> {
  const wishes = hosts.flatMap((host) => ports.map((port) => ({ host, port })))
  const command = { file: process.execPath, args: ['-e', program, '--', JSON.stringify(wishes)] }
  const { out, err } = await place.run(command, { resolve: async () => ['127.0.0.1'], ...wayOut })
  if (out === '') throw new Error(err)
  const found = JSON.parse(out) as [string, string, number, string][]
  return found.filter(([, , , heard]) => heard.includes('canary')).map(([way, host]) => `${way} ${host}`)
}

it(named(23, 'works in every protocol, from inside the walls'), async () => {
  const reached = await ask(['site.example'], { allow: [`site.example:${canary.port} local`] })
  expect(reached.toSorted()).toEqual(['connect', 'http', 'socks4a', 'socks5', 'upgrade'].map((way) => `${way} site.example`))
})

it(named(24, 'refused in every protocol, and nobody is reached'), async () => {
  const allow = ['site.example:443 local', 'github.com']
  const hosts = ['other.example', 'site.example', 'localhost', '127.0.0.1', '[::1]', '0.0.0.0', '169.254.169.254', 'github.com']
  expect(await ask(hosts, { allow })).toEqual([])
  expect(canary.reached()).toBe(0)
})

it(named(25, 'none of them gets through'), async () => {
  const allow = [`good.example:${canary.port}`, `*.fine.example:${canary.port}`, `github.com:${canary.port}`]
  const odd = [
    'good.example\0.evil.example',
    'evil.example\0good.example',
    'good.example@127.0.0.1',
    '127.0.0.1#good.example',
    '127.0.0.1?good.example',
    '127.0.0.1/good.example',
    'evilgood.example',
    'good.example.evil.example',
    'fine.example',
    'good.example%00',
    'good.example%2eevil.example',
    'good.example\\@evil.example',
    'good.example\r\nhost: evil.example',
    'good.example evil.example',
    'g\u00f6od.example',
    'xn--good-.example',
    '0x7f000001',
    '2130706433',
    '017700000001',
    '127.1',
    '127.0.0.1.',
    '[::ffff:127.0.0.1]',
    '[0:0:0:0:0:ffff:7f00:1]',
    '[fd00:ec2::254]',
    '',
    '.',
    '..',
    '*.fine.example',
    // These are the allowed names, written otherwise; they lead to this machine, which no rule permits.
    'GOOD.EXAMPLE',
    'good.example.',
    'github.com',
  ]
  expect(await ask(odd, { allow })).toEqual([])
  expect(canary.reached()).toBe(0)
})

it(named(51, 'refused'), async () => {
  const speak = `const [port, token] = process.argv.slice(1)
fetch('http://127.0.0.1:' + port + '/v1/run', { headers: { authorization: 'Bearer ' + token } }).then((r) => r.status, (e) => e.cause?.code ?? e.message).then((s) => console.log(s))`
  const knock = (port: string, token: string) => ({ file: process.execPath, args: ['-e', speak, '--', port, token] })
  const own = "process.env.PAWL_DOOR_URL.split(':')[2]"
  const first = await place.start({ file: 'sh', args: ['-c', 'echo up; cat'], token: 'first-token' })
  const port = new URL(first.walled.door!.url).port
  try {
    // From other walls: their own door does not know the token, and the other door is not there.
    const mine = {
      file: process.execPath,
      args: ['-e', speak.replace('[port, token] = process.argv.slice(1)', `[port, token] = [${own}, 'first-token']`)],
    }
    expect((await place.run({ ...mine, token: 'second-token' })).out).toBe('401\n')
    expect((await place.run({ ...mine, token: 'first-token' })).out).toBe('200\n')
    expect((await place.run(knock(port, 'first-token'))).out).toMatch(/ECONNREFUSED|401/)
  } finally {
    await first.walled.child.stop({ graceMs: 0 })
    await first.door.close()
  }
  // After the end: the door is bound to nobody, and then closed.
  const second = await place.start({
    file: process.execPath,
    args: ['-e', `const token = 'the-token', port = ${own}; process.stdin.once('data', () => { ${speak.split('\n')[1]} })`],
  })
  await second.door.bind(undefined)
  second.walled.child.stdin.end('now')
  const [status] = await Promise.all([
    text(second.walled.child.stdout),
    second.walled.child.exited.then(() => second.walled.child.stop({ graceMs: 0 })),
  ])
  expect(status).toBe('409\n')
  await second.door.close()
})
