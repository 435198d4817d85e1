import { chownSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { hostPath, inPlace } from '../../domain/base/path.ts'
import { serveDoor } from '../../engine/endpoint/endpoint.ts'
import { createBubblewrap } from '../bubblewrap/sandbox.ts'
import { proxyEnvironment } from './environment.ts'
import { readRules } from './host-rule.ts'
import { startCanary, startWebServer } from './testing.ts'

const bubblewrap = createBubblewrap()
const user = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : undefined
let base: string
beforeAll(() => {
  base = mkdtempSync(join(tmpdir(), 'pawl-egress-'))
})
afterAll(() => rmSync(base, { recursive: true, force: true }))

function ownPlace(name: string): string {
  const path = join(base, name)
  mkdirSync(path)
  if (user) chownSync(path, user.uid, user.gid)
  return path
}

/** Tries everything that could lead out, and prints what came of each. */
const program = String.raw`
const [canary, site] = process.argv.slice(1).map(Number)
const net = require('node:net')
const results = {}
const attempt = async (name, work) => { results[name] = await work().then((value) => value ?? 'open', (error) => 'closed ' + (error.cause?.cause?.message ?? error.code ?? error.message)) }
const dial = (port, host) => () => new Promise((done, fail) => net.connect(port, host).once('connect', () => done()).once('error', fail))
const get = (url) => async () => { const response = await fetch(url); return response.status + ' ' + (await response.text()) }
const datagram = () => new Promise((done, fail) => require('node:dgram').createSocket('udp4').send('x', 53, '192.0.2.1', (error) => error ? fail(error) : done()))
void (async () => {
  await attempt('loopback of the host', dial(canary, '127.0.0.1'))
  await attempt('metadata service', dial(80, '169.254.169.254'))
  await attempt('any host', dial(443, '1.1.1.1'))
  await attempt('datagram', datagram)
  await attempt('name service', () => require('node:dns/promises').lookup('site.example'))
  await attempt('allowed host', get('http://site.example:' + site + '/'))
  await attempt('other host', get('http://other.example/'))
  await attempt('loopback of the host by the proxy', get('http://loops.example:' + canary + '/'))
  const own = require('node:http').createServer((_, response) => response.end('mine')).listen(0, '127.0.0.1')
  await require('node:events').once(own, 'listening')
  await attempt('own loopback', get('http://127.0.0.1:' + own.address().port + '/'))
  // Somebody inside who passes everything on to the door is still inside.
  const door = new URL(process.env.PAWL_DOOR_URL)
  const relay = net.createServer((client) => client.pipe(net.connect(door.port, door.hostname)).pipe(client)).listen(0, '127.0.0.1')
  await require('node:events').once(relay, 'listening')
  await attempt('other host by a relay', () => new Promise((done) => {
    let said = ''
    const socket = net.connect(relay.address().port, '127.0.0.1').on('data', (chunk) => { said += chunk }).on('close', () => done(said.split('\r\n')[0]))
    socket.write('CONNECT other.example:443 HTTP/1.1\r\nhost: x\r\n\r\n')
  }))
  await attempt('model', get(door.href + 'model/v1'))
  console.log(JSON.stringify(results))
  process.exit()
})()
`

it('is the only way out of walls without a network, and leads to what the rules name', async () => {
  const canary = await startCanary()
  const site = await startWebServer((request, response) => response.end(`hello ${request.url}`))
  const workspace = ownPlace('workspace')
  const walled = await bubblewrap.launch(
    { file: process.execPath, args: ['-e', program, `${canary.port}`, `${site.port}`], env: proxyEnvironment() },
    {
      unit: bubblewrap.killUnit(`pawl-egress-${process.pid}`, 1),
      workspace: inPlace(workspace),
      home: hostPath(ownPlace('home')),
      hidden: [],
      user,
      network: 'none',
      door: true,
      limits: { processes: 64, openFiles: 256 },
    },
  )
  const door = serveDoor(walled.door!.server, { token: 'the-token' })
  await door.bind({
    describe: () => ({ task: 'task_1', run: 'run_1', attempt: 1 }),
    ask: async () => ({ id: 'question_1' }),
    consult: async () => undefined,
    notify: async () => undefined,
    network: {
      profile: 'guarded',
      rules: readRules({ allow: [`site.example:${site.port} local`, `loops.example:${canary.port}`], ask: [], deny: [] }),
      model: `http://127.0.0.1:${site.port}/api`,
      ask: async () => undefined,
      record: () => undefined,
      resolve: async (name) => (name === 'other.example' ? [] : ['127.0.0.1']),
    },
  })
  const [out, complaints] = await Promise.all([text(walled.child.stdout), text(walled.child.stderr)])
  await walled.child.stop({ graceMs: 0 })
  await door.close()
  await Promise.all([canary.close(), site.close()])
  expect(complaints).not.toContain('Error')
  const closed = expect.stringMatching(/^closed /)
  const refused = expect.stringMatching(/^closed .*\(403\)/)
  expect(JSON.parse(out)).toEqual({
    'loopback of the host': closed,
    'metadata service': closed,
    'any host': closed,
    datagram: closed,
    'name service': closed,
    'allowed host': '200 hello /',
    'other host': refused,
    'loopback of the host by the proxy': refused,
    'own loopback': '200 mine',
    'other host by a relay': 'HTTP/1.1 403 Forbidden',
    model: '200 hello /api/v1',
  })
  expect(canary.reached()).toBe(0)
})
