import { afterAll, beforeAll, expect, it } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import { createClient } from '../../src/client/index.ts'
import { createSecrets, type Secrets } from '../../src/engine/auth/secrets.ts'
import { createKeySource } from '../../src/secrets/key-source.ts'
import { makeParts } from '../engine/store.ts'
import { fakeRuntime } from '../fake-runtime.ts'
import { ask, type Listening, listening, surfaceOver, token } from '../http-peer.ts'

let peer: Listening
let secrets: Secrets
let close: () => Promise<void>
beforeAll(async () => {
  const { db, home } = await makeParts((end) => {
    close = end
  })
  const keySource = createKeySource(undefined, { home: home.path, environment: () => ({}) })
  secrets = createSecrets({ db, keySource, clock: systemClock, audit: async () => undefined })
  peer = await listening({ secrets })
})
afterAll(async () => {
  await peer.surface.stop()
  await close()
})

it('a value goes in by the API and never comes out', async () => {
  const client = createClient({ url: peer.url, token })
  const value = 'a value "with" quotes\nand lines'
  const stored = await client.setSecret('agent:team/helper', 'NPM_TOKEN', value)
  expect(stored).toMatchObject({ scope: 'agent:team/helper', name: 'NPM_TOKEN', updatedBy: 'local' })
  expect(await client.getSecret('agent:team/helper', 'NPM_TOKEN')).toEqual(stored)
  expect(await client.listSecrets()).toEqual([stored])
  const given = await secrets.resolve([{ name: 'NPM_TOKEN', variable: 'T' }], { agent: 'team/helper', user: 'ada' })
  expect(given).toEqual([{ name: 'NPM_TOKEN', variable: 'T', value }])
  await client.removeSecret('agent:team/helper', 'NPM_TOKEN')
  expect(await client.listSecrets()).toEqual([])
  await expect(client.removeSecret('agent:team/helper', 'NPM_TOKEN')).rejects.toMatchObject({ code: 'not_found' })
})

it.each([
  ['nothing', { value: '' }, 'cannot be empty'],
  ['a NUL', { value: 'canary\0canary' }, 'NUL'],
  ['a number', { value: 12345678 }, 'value'],
  ['no value', {}, 'value'],
  ['something else beside it', { value: 'canary-canary', scope: 'x' }, '"scope" is not known here'],
  ['too much', { value: 'canary'.repeat(20_000) }, 'at most 65536'],
])('a secret that is %s is refused in a sentence that does not repeat it', async (_, json, sentence) => {
  const answer = await ask(peer.surface, 'PUT', '/api/v1/secrets/global/TOKEN', {
    json,
    headers: { host: new URL(peer.url).host },
  })
  expect(answer.status).toBe(400)
  expect(answer.text).toContain(JSON.stringify(sentence).slice(1, -1))
  expect(answer.text).not.toContain('canary')
})

it.each(['/global/a%20b', '/everybody/TOKEN', '/user:/TOKEN', '/global/..%2f..%2ftoken'])('nothing is under %s', async (path) => {
  const options = { json: { value: 'some value' }, headers: { host: new URL(peer.url).host } }
  expect((await ask(peer.surface, 'PUT', `/api/v1/secrets${path}`, options)).status).toBe(404)
})

it('a server without a store of secrets says so', async () => {
  const answer = await ask(surfaceOver(fakeRuntime()), 'GET', '/api/v1/secrets')
  expect(answer.json).toMatchObject({ code: 'unsupported', detail: 'This server keeps no secrets.' })
})
