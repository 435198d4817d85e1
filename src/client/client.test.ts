import { execFileSync } from 'node:child_process'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { listening, token } from '../../test/http-peer.ts'
import { unavailable } from '../domain/error.ts'
import type { Event, NewEvent } from '../domain/event/event.ts'
import type { Growing } from '../domain/event/live-text.ts'
import { createClient } from './index.ts'

/** The owner of the home, as the runtime is told of them. */
const owner = { by: 'api', user: 'local', token: 'home', standing: 'admin' }

const stops: (() => unknown)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop()
})

async function peers(options: Parameters<typeof listening>[0] = {}) {
  const peer = await listening(options)
  const client = createClient({ url: peer.url, token })
  stops.push(peer.surface.stop, client.close)
  return { ...peer, client }
}

const said = (text: string): NewEvent => ({ type: 'agent.message', data: { text } })
const completed: NewEvent = { type: 'task.completed', data: { verified: true } }

test('every verb reaches the runtime and its answer comes back', async () => {
  const { client, runtime } = await peers()
  const { task, created } = await client.createTask({ prompt: 'ä"\n', agent: 'demo', tags: ['a'] }, { idempotencyKey: 'k' })
  expect(created).toBe(true)
  expect((await client.createTask({ prompt: 'ä"\n', agent: 'demo', tags: ['a'] }, { idempotencyKey: 'k' })).created).toBe(false)
  expect(await client.getTask(task.id)).toEqual(task)
  expect(await client.listTasks({ states: ['queued', 'running'], agent: 'demo', limit: 1 })).toEqual({
    items: [task],
    next: null,
  })
  expect((await client.cancelTask(task.id, { now: true })).state).toBe('cancelled')
  expect((await client.retryTask(task.id, { fresh: true })).state).toBe('queued')
  expect((await client.acceptTask(task.id)).state).toBe('completed')
  expect((await client.rejectTask(task.id, { comment: 'more' })).state).toBe('queued')
  expect((await client.listSessions({ agent: 'demo', limit: 1 })).items.map(({ id }) => id)).toEqual([task.session])
  const adopted = await client.adoptSession({ vendorId: 'v', workspace: '/w' })
  expect(await client.getSession(adopted.id)).toEqual(adopted)
  expect(await client.stopSession(adopted.id, { now: true })).toEqual({ session: adopted.id, stopped: null })
  const question = runtime.ask(task.id, 'which?')
  expect(await client.listQuestions({ state: 'pending', task: task.id })).toEqual([question])
  expect((await client.answerQuestion(question.id, 'this')).answer).toBe('this')
  expect((await client.readEvents(task.id, { after: 0, limit: 5 })).items.map((event) => event.type)).toEqual(['task.queued'])
  expect((await client.listAgents()).map((agent) => agent.name)).toEqual(['demo'])
  expect((await client.getAgent('demo')).title).toBe('Demo')
  await expect(client.getAgent('nobody')).rejects.toThrow('There is no agent "nobody".')
  expect((await client.health()).pid).toBe(1)
  await client.ready()
  expect(runtime.calls.filter(([verb]) => /cancel|retry|accept|reject|list(Tasks|Questions)|answer|stop/.test(verb))).toEqual([
    ['listTasks', { states: ['queued', 'running'], agent: 'demo', limit: 1 }],
    ['cancelTask', task.id, { ...owner, now: true }],
    ['retryTask', task.id, { ...owner, fresh: true }],
    ['acceptTask', task.id, owner],
    ['rejectTask', task.id, { ...owner, comment: 'more' }],
    ['stopSession', adopted.id, { ...owner, now: true }],
    ['listQuestions', { state: 'pending', task: task.id }],
    ['answerQuestion', question.id, 'this', owner],
  ])
})

test('a client is named in the journal, unless the name is none', async () => {
  const { runtime, url } = await peers()
  const { task } = await runtime.createTask({ prompt: 'x' }, { by: 'test' })
  for (const name of ['cli', 'No Name', undefined]) {
    const client = createClient({ url, token, name })
    stops.push(client.close)
    await client.cancelTask(task.id)
  }
  expect(runtime.calls.filter(([verb]) => verb === 'cancelTask').map(([, , options]) => options)).toEqual([
    { ...owner, by: 'cli', now: false },
    { ...owner, now: false },
    { ...owner, now: false },
  ])
})

test('a refusal arrives as the same error with its code, sentence and details', async () => {
  const { client } = await peers()
  await expect(client.getTask('t_000000000000000000')).rejects.toMatchObject({
    code: 'not_found',
    message: 'There is no task "t_000000000000000000".',
  })
  await expect(client.createTask({ prompt: ' ' })).rejects.toMatchObject({
    code: 'invalid',
    details: { errors: [{ path: 'prompt' }] },
  })
  await client.createTask({ prompt: 'a' }, { idempotencyKey: 'k' })
  await expect(client.createTask({ prompt: 'b' }, { idempotencyKey: 'k' })).rejects.toMatchObject({ code: 'conflict' })
})

test('a wrong token is a denial, and no daemon at all names the cure', async () => {
  const { url, surface } = await peers()
  const stranger = createClient({ url, token: 'somebody-elses-token-000' })
  stops.push(stranger.close)
  await expect(stranger.health()).rejects.toMatchObject({ code: 'denied' })
  await surface.stop()
  await expect(stranger.health()).rejects.toMatchObject({ code: 'unavailable', message: expect.stringContaining('pawl serve') })
})

test('events are followed until the task rests', async () => {
  const { client, runtime } = await peers()
  const { task } = await client.createTask({ prompt: 'p' })
  runtime.emit(task.id, said('one'))
  const seen: Event[] = []
  for await (const event of client.followEvents(task.id, { until: 'rest' })) {
    seen.push(event)
    if (event.seq === 2) {
      runtime.setState(task.id, 'completed')
      runtime.emit(task.id, said('two'), completed)
    }
  }
  expect(seen.map((event) => event.type)).toEqual(['task.queued', 'agent.message', 'agent.message', 'task.completed'])
})

test('a follower that is cut again and again sees every event once and in order', async () => {
  const proxy = await cuttingProxy()
  stops.push(proxy.stop)
  const { client: direct, runtime, port } = await peers({ allowedHosts: [`127.0.0.1:${proxy.port}`] })
  proxy.passTo(port)
  const client = createClient({ url: `http://127.0.0.1:${proxy.port}`, token })
  stops.push(client.close)
  const { task } = await direct.createTask({ prompt: 'p' })
  const total = 3_000
  const seen: number[] = []
  const reading = (async () => {
    for await (const event of client.followEvents(task.id, { until: 'rest' })) seen.push(event.seq)
  })()
  for (let n = 1; n < total; n += 100) {
    runtime.emit(task.id, ...Array.from({ length: Math.min(100, total - n) }, (_, i) => said(`${n + i} ${'ü'.repeat(300)}`)))
    await new Promise((resolve) => setImmediate(resolve))
  }
  runtime.setState(task.id, 'completed')
  runtime.emit(task.id, completed)
  await reading
  expect(seen).toEqual(Array.from({ length: total + 1 }, (_, i) => i + 1))
  expect(proxy.cuts()).toBeGreaterThan(3)
})

test('a follower waits for a daemon that restarts, and gives up when its patience ends', async () => {
  const { client, runtime, surface, port } = await peers()
  const { task } = await client.createTask({ prompt: 'p' })
  const states: string[] = []
  const onState = (state: string) => states.push(state)
  const events = client.followEvents(task.id, { patienceMs: 300, onState })[Symbol.asyncIterator]()
  expect((await events.next()).value?.seq).toBe(1)
  await surface.stop()
  const next = events.next()
  await surface.start({ host: '127.0.0.1', port, portAsked: true })
  runtime.emit(task.id, said('after the restart'))
  expect((await next).value?.seq).toBe(2)
  expect(states).toEqual(['away', 'live'])
  await surface.stop()
  await expect(events.next()).rejects.toMatchObject({ code: 'unavailable' })
  expect(states).toEqual(['away', 'live', 'away'])
})

test('following an unknown task is refused, and a failing runtime is not hidden', async () => {
  const { client, runtime } = await peers()
  const follow = async () => {
    for await (const _ of client.followEvents('t_000000000000000000')) break
  }
  await expect(follow()).rejects.toMatchObject({ code: 'not_found' })
  runtime.failWith(unavailable('The database is away.'))
  await expect(follow()).rejects.toMatchObject({ code: 'unavailable', message: 'The database is away.' })
})

test('aborting ends a follow quietly, and leaving the loop closes the connection', async () => {
  const { client, runtime } = await peers()
  const { task } = await client.createTask({ prompt: 'p' })
  const stop = new AbortController()
  let count = 0
  for await (const _ of client.followEvents(task.id, { signal: stop.signal })) {
    count++
    stop.abort()
  }
  for await (const _ of client.followEvents(task.id)) break
  expect(count).toBe(1)
  await expect.poll(() => runtime.followers()).toBe(0)
})

test('loading the client loads neither a package nor the fetch implementation', () => {
  const script = `
    import { registerHooks } from 'node:module'
    const loaded = []
    registerHooks({ load: (url, context, next) => { loaded.push(url); return next(url, context) } })
    await import(${JSON.stringify(new URL('./index.ts', import.meta.url).href)})
    console.log(JSON.stringify([...loaded, ...process.moduleLoadList].filter((name) => /node_modules|undici/.test(name))))`
  const output = execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' })
  expect(JSON.parse(output)).toEqual([])
})

/** Passes bytes on and cuts each connection after a growing number of them. */
async function cuttingProxy() {
  let target = 0
  const sockets = new Set<Socket>()
  let cuts = 0
  const server: Server = createServer((client) => {
    const upstream = connect(target, '127.0.0.1')
    let left = 2_000 + cuts * 50_000
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => socket.destroy())
      socket.on('close', () => {
        client.destroy()
        upstream.destroy()
      })
    }
    client.pipe(upstream)
    upstream.on('data', (chunk) => {
      client.write(chunk.subarray(0, left))
      left -= chunk.length
      if (left > 0) return
      cuts++
      client.destroySoon()
      upstream.destroy()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return {
    port: typeof address === 'object' && address ? address.port : 0,
    passTo: (port: number) => {
      target = port
    },
    cuts: () => cuts,
    stop: () => {
      for (const socket of sockets) socket.destroy()
      return new Promise((resolve) => server.close(resolve))
    },
  }
}

test('what an agent is saying comes beside its events, in pieces without a number, and goes when its event comes', async () => {
  const { client, runtime } = await peers()
  const { task } = await client.createTask({ prompt: 'p' })
  const grown: (string | undefined)[] = []
  const seen: (string | number)[] = []
  const stop = new AbortController()
  const onGrowing = (growing: Growing | undefined) => grown.push(growing?.text)
  const follow = client.followEvents(task.id, { signal: stop.signal, onGrowing })
  const growing = (n: number, text: string): Growing => ({ run: 'r_1', n, kind: 'message', text })
  const grow = async (now: Growing | undefined) => {
    runtime.grow(now)
    await expect.poll(() => grown.at(-1)).toBe(now?.text)
  }
  for await (const event of follow) {
    seen.push(event.seq)
    if (event.seq === 1) {
      await expect.poll(() => runtime.followers()).toBe(1)
      void (async () => {
        await grow(growing(0, 'All is'))
        await grow(growing(0, 'All is well'))
        runtime.emit(task.id, said('All is'), Object.assign(said('All is well.'), { run: 'r_1' }))
      })()
    } else if (event.seq === 3) {
      expect(grown).toEqual(['All is', 'All is well', undefined])
      // Whoever has not asked for it is not told.
      break
    }
  }
  expect(seen).toEqual([1, 2, 3])
  const plain = client.followEvents(task.id, { after: 2 })[Symbol.asyncIterator]()
  expect((await plain.next()).value).toMatchObject({ seq: 3 })
  runtime.grow(growing(1, 'unheard'))
  runtime.emit(task.id, said('heard'))
  expect((await plain.next()).value).toMatchObject({ seq: 4, data: { text: 'heard' } })
  await plain.return?.()
  expect(grown).toHaveLength(3)
})
