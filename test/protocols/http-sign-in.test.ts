import { afterAll, beforeAll, expect, test } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import { createAudit } from '../../src/engine/auth/audit.ts'
import { createEntrance, type Entrance } from '../../src/engine/auth/auth.ts'
import { makeParts } from '../engine/store.ts'
import { exchange, type Listening, listening, request, token } from '../http-peer.ts'

let peer: Listening
let entrance: Entrance
let close: () => Promise<void>
beforeAll(async () => {
  const { db, log } = await makeParts((end) => {
    close = end
  })
  const audit = createAudit({ db, log, clock: systemClock })
  entrance = createEntrance({ db, log, audit, clock: systemClock, homeToken: token })
  peer = await listening({
    entrance,
    audit,
    rates: { requests: { burst: 1e9, perSecond: 1 }, failures: { burst: 16, perSecond: 0.001 } },
  })
})
afterAll(async () => {
  await peer.surface.stop()
  await close()
})

const host = () => `Host: 127.0.0.1:${peer.port}`
const own = () => `Origin: http://127.0.0.1:${peer.port}`
const code = async () => (await entrance.createSignInCode({ by: 'test' })).code
const post = (path: string, body: string, headers: readonly string[]) =>
  exchange(
    peer.port,
    request(
      `POST ${path}`,
      [host(), 'Content-Type: application/x-www-form-urlencoded', `Content-Length: ${body.length}`, ...headers],
      body,
    ),
  )
const signIn = async () => {
  const answer = await post('/sign-in', `code=${await code()}`, [own(), 'Sec-Fetch-Site: same-origin'])
  return { answer, cookie: /^set-cookie: ([^;\r]+)/im.exec(answer.text)?.[1] ?? '' }
}
const get = async (headers: readonly string[]) =>
  (await exchange(peer.port, request('GET /api/v1/tasks', [host(), ...headers]))).status

test('the page for a code spends nothing, runs nothing and loads nothing', async () => {
  const once = await code()
  for (let look = 0; look < 2; look++) {
    const page = await exchange(peer.port, request(`GET /sign-in?code=${once}`, [host(), 'Sec-Fetch-Site: none']))
    expect(page.status).toBe(200)
    expect(page.text).toMatch(
      /content-security-policy: default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'/i,
    )
    expect(page.text).toMatch(/cache-control: no-store/i)
    expect(page.text).toMatch(/referrer-policy: same-origin/i)
    expect(page.text).toContain(`<form method="post" action="/sign-in">`)
    expect(page.text).not.toMatch(/<script|<style|<img|<link(?! rel="stylesheet" href="\/plain.css">)|https?:|set-cookie/i)
  }
  for (const hostile of ['%22%3E%3Cscript%3E', 'x%00', '..%2F', 'x'.repeat(200)])
    expect((await exchange(peer.port, request(`GET /sign-in?code=${hostile}`, [host()]))).status).toBe(400)
})

test('what the owner opens is signed in at once, once and within a minute, also from a file of theirs; no other code is spent by looking', async () => {
  const opened = (path: string, headers: readonly string[] = ['Sec-Fetch-Site: cross-site', 'Sec-Fetch-Mode: navigate']) =>
    exchange(peer.port, request(`GET ${path}`, [host(), ...headers]))
  const { path } = await entrance.createSignInCode({ by: 'test' }, { opens: true })
  expect(path).toMatch(/^\/open\?code=pawl_/)
  const first = await opened(path)
  expect(first.status).toBe(200)
  const cookie = /^set-cookie: ([^;\r]+)/im.exec(first.text)?.[1] ?? ''
  expect(await get([`Cookie: ${cookie}`, 'Sec-Fetch-Site: same-origin'])).toBe(200)
  expect((await opened(path)).status).toBe(403)

  const plain = await code()
  expect((await opened(`/open?code=${plain}`)).status).toBe(403)
  expect((await opened(`/sign-in?code=${plain}`)).status).toBe(200)
  expect((await post('/sign-in', `code=${plain}`, [own()])).status).toBe(200)
  await expect(entrance.createSignInCode({ by: 'anna', user: 'anna', token: 'k_other' }, { opens: true })).rejects.toMatchObject({
    code: 'denied',
  })
})

test('only pages for signing in can be led to from elsewhere, and only as a page', async () => {
  const from = async (target: string, ...headers: string[]) =>
    (await exchange(peer.port, request(target, [host(), 'Sec-Fetch-Site: cross-site', ...headers]))).status
  expect(await from('GET /sign-in', 'Sec-Fetch-Mode: navigate')).toBe(200)
  expect(await from('GET /sign-in', 'Sec-Fetch-Mode: no-cors')).toBe(403)
  expect(await from('GET /api/v1/tasks', 'Sec-Fetch-Mode: navigate')).toBe(403)
  expect(await from('GET /sign-in', 'Sec-Fetch-Mode: navigate', 'Origin: https://attacker.example')).toBe(403)
  expect(await from('POST /sign-in', 'Sec-Fetch-Mode: navigate', 'Content-Length: 0')).toBe(403)
})

test('a code becomes a cookie that scripts cannot read and other sites do not send', async () => {
  const { answer, cookie } = await signIn()
  expect(answer.status).toBe(200)
  expect(answer.text).toMatch(/^set-cookie: pawl-session=pawl_[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=43200\r$/im)
  expect(answer.text).toContain('You are signed in as local.')
  expect(await get([`Cookie: ${cookie}`, 'Sec-Fetch-Site: same-origin'])).toBe(200)
})

test('a cookie alone opens nothing: it takes what only our own page sends', async () => {
  const { cookie } = await signIn()
  const shown = `Cookie: ${cookie}`
  const port = peer.port
  const reading: [string[], number][] = [
    [[], 401],
    [['Sec-Fetch-Site: none'], 401],
    // An address that somebody typed: no page can make a browser say so.
    [['Sec-Fetch-Site: none', 'Sec-Fetch-Mode: navigate'], 200],
    [['Sec-Fetch-Site: cross-site', 'Sec-Fetch-Mode: navigate'], 403],
    [['Sec-Fetch-Site: same-site'], 403],
    [['Sec-Fetch-Site: cross-site'], 403],
    [['Sec-Fetch-Site: same-origin'], 200],
    [[`Origin: http://127.0.0.1:${port}`], 200],
    // An origin of ours, but not the one that was asked: another name is another site to a browser.
    [[`Origin: http://localhost:${port}`], 401],
    [['Origin: null'], 403],
    [['Origin: http://127.0.0.1:1'], 403],
    [['Origin: http://attacker.example'], 403],
  ]
  for (const [headers, status] of reading) expect(await get([shown, ...headers]), headers.join()).toBe(status)
  const writing: [string[], number][] = [
    [['Sec-Fetch-Site: same-origin'], 401],
    [[own()], 201],
    [[own(), 'Sec-Fetch-Site: same-origin'], 201],
    [[own(), 'Sec-Fetch-Site: cross-site'], 403],
    [[`Origin: http://localhost:${port}`], 401],
  ]
  const body = '{"prompt":"p"}'
  for (const [headers, status] of writing) {
    const line = request(
      'POST /api/v1/tasks',
      [host(), shown, 'Content-Type: application/json', `Content-Length: ${body.length}`, ...headers],
      body,
    )
    expect((await exchange(port, line)).status, headers.join()).toBe(status)
  }
})

test('signing out ends the session and takes the cookie back', async () => {
  const { cookie } = await signIn()
  const shown = [`Cookie: ${cookie}`, own(), 'Sec-Fetch-Site: same-origin']
  expect((await post('/sign-out', '', [`Cookie: ${cookie}`])).status).toBe(401)
  const left = await post('/sign-out', '', shown)
  expect(left.status).toBe(200)
  expect(left.text).toMatch(/set-cookie: pawl-session=; .*Max-Age=0/i)
  expect(await get(shown)).toBe(401)
})

test('a page of another origin can sign nobody in, and a code that was used, never was, or is a token opens nothing', async () => {
  const once = await code()
  expect((await post('/sign-in', `code=${once}`, ['Origin: http://attacker.example', 'Sec-Fetch-Site: cross-site'])).status).toBe(
    403,
  )
  expect((await post('/sign-in', `code=${once}`, [own()])).status).toBe(200)
  const tries = [once, `pawl_${'x'.repeat(43)}`, 'x', (await entrance.createToken({}, { by: 'test' })).token]
  for (const wrong of tries) {
    const answer = await post('/sign-in', `code=${wrong}`, [own()])
    expect(answer.status).toBe(403)
    expect(answer.text).not.toMatch(/set-cookie/i)
  }
  // Whoever guesses is told to wait; whoever has a code is not.
  const statuses: number[] = []
  for (let n = 0; n < 10; n++) statuses.push((await post('/sign-in', 'code=guess', [own()])).status)
  expect(statuses.at(-1)).toBe(429)
  expect((await signIn()).answer.status).toBe(200)
})

test('a stream ends when the token that opened it does', async () => {
  const { task } = await peer.runtime.createTask({ prompt: 'p' }, { by: 'test' })
  const made = await entrance.createToken({}, { by: 'test' })
  const open = (shown: string) =>
    fetch(`http://127.0.0.1:${peer.port}/api/v1/tasks/${task.id}/events`, { headers: { authorization: `Bearer ${shown}` } })
  const [theirs, ours] = [await open(made.token), await open(token)]
  await expect.poll(() => peer.runtime.followers()).toBe(2)
  await entrance.revokeToken(made.id, { by: 'test' })
  await expect(theirs.text()).rejects.toThrow()
  expect(peer.runtime.followers()).toBe(1)
  await ours.body?.cancel()
})
