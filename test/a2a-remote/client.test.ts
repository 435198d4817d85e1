import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { a2a } from '../../src/agents/a2a/agent.ts'
import { readBookmark } from '../../src/agents/a2a/bookmark.ts'
import type { Turn, Verdict } from '../../src/agents/port.ts'
import type { AgentEvent } from '../../src/domain/event/event.ts'
import { makePlace } from '../contracts/adapter.ts'
import { launch } from '../contracts/launch.ts'
import { startPeer } from './peer.ts'

const peer = await startPeer()
afterAll(() => peer.close())

interface How {
  readonly options?: Record<string, unknown>
  readonly env?: Record<string, string>
  readonly resume?: string | undefined
  readonly turn?: Partial<Turn>
}

let asks = 0

/** One turn with the peer, by the program that runs inside the walls, without them. */
async function ask(path: string, prompt: string, how: How = {}) {
  const place = await makePlace()
  const artifacts = join(place.home, 'artifacts')
  await mkdir(artifacts)
  const options = a2a.options.parse({ url: `${peer.url}${path}`, ...how.options })
  const spec = { options, prompt, ...place, extraArgs: [], resume: how.resume }
  const child = await launch(a2a.command(spec), place, { PAWL_ARTIFACTS: artifacts, ...how.env })
  onTestFinished(async () => void (await child.stop({ graceMs: 0 })))
  const events: AgentEvent[] = []
  const verdict: Verdict = await (await a2a.open(child, spec)).turn({
    prompt,
    askId: `t_${++asks}`,
    signal: new AbortController().signal,
    ask: async () => undefined,
    permit: async () => ({ allow: true }),
    ...how.turn,
    async emit(event) {
      events.push(event)
      await how.turn?.emit?.(event)
    },
  })
  return { verdict, events, artifacts, said: textsOf(events), mark: readBookmark(verdict.vendorSession) }
}

const textsOf = (events: readonly AgentEvent[]) =>
  events.flatMap((event) => (event.type === 'agent.message' ? [event.data.text] : []))
const tasksOf = (prompt: string) => peer.seen.tasks.filter((words) => words === prompt).length

test.each(['/plain', '/rest', '/polled', '/old'])(
  'a task is given to %s and its result comes back',
  async (path) => {
    const prompt = `say: hello by ${path}`
    const { verdict, mark } = await ask(path, prompt)
    expect(verdict).toMatchObject({ outcome: 'succeeded', text: `done: hello by ${path}` })
    expect(verdict).not.toHaveProperty('costUsd')
    expect(mark).toMatchObject({ task: expect.any(String), context: expect.any(String), over: true })
    expect(tasksOf(prompt)).toBe(1)
  },
  20_000,
)

test('what a remote agent says without a task is its answer, and the conversation goes on where it was', async () => {
  const first = await ask('/plain', 'message: hello')
  expect(first.verdict).toMatchObject({ outcome: 'succeeded', text: 'hello' })
  const second = await ask('/plain', 'say: more', { resume: first.verdict.vendorSession })
  expect(second.mark.context).toBe(first.mark.context)
  expect(second.mark.task).not.toBe(first.mark.task)
})

test('a stream that is cut is taken up again, and one that is cut before it began makes no second task', async () => {
  for (const [path, prompt] of [
    ['/cutting', 'cut: one thing'],
    ['/lossy', 'cut: another'],
  ] as const) {
    const { verdict, events } = await ask(path, prompt, {
      turn: {
        async emit({ type }) {
          if (type === 'agent.retrying' || type === 'agent.message') setTimeout(peer.release, 500)
        },
      },
    })
    expect(verdict).toMatchObject({ outcome: 'succeeded', text: prompt.replace('cut', 'done') })
    expect(tasksOf(prompt)).toBe(1)
    expect(textsOf(events)).toContain('That was all.')
  }
}, 30_000)

test('whoever comes after a run that died goes on with the same remote task, by its id alone', async () => {
  const stop = new AbortController()
  const prompt = 'wait: the result'
  const first = await ask('/plain', prompt, {
    turn: {
      askId: 't_died',
      signal: stop.signal,
      goesOnLater: () => true,
      async emit({ type }) {
        if (type === 'agent.message') stop.abort()
      },
    },
  })
  expect(first.mark).toMatchObject({ task: expect.any(String), sent: 't_died' })
  expect(first.mark.over).toBeUndefined()
  // Its work ends while nobody listens.
  peer.release()
  const second = await ask('/plain', `Go on. ${prompt}`, { resume: first.verdict.vendorSession, turn: { askId: 't_died' } })
  expect(second.verdict).toMatchObject({ outcome: 'succeeded', text: 'done: the result' })
  expect(second.mark).toMatchObject({ task: first.mark.task, over: true })
  expect(tasksOf(prompt)).toBe(1)
  expect(peer.seen.messages.filter(({ task }) => task === first.mark.task)).toHaveLength(1)
}, 20_000)

test('the ids are stored before anything else is done: what is said later waits for it', async () => {
  const order: string[] = []
  await ask('/plain', 'say: ordered', {
    turn: {
      async emit({ type }) {
        order.push(type)
      },
      async stored() {
        await new Promise((done) => setTimeout(done, 200))
        order.push('stored')
      },
    },
  })
  expect(order.slice(0, 3)).toEqual(['agent.session', 'stored', 'agent.message'])
})

test('a question waits for its answer, in the same turn or in a later one, and the answer belongs to the same task', async () => {
  const live = await ask('/plain', 'ask: Which colour?', { turn: { ask: async ([question]) => [`${question?.text} blue`] } })
  expect(live.verdict).toMatchObject({ outcome: 'succeeded', text: 'You answered: Which colour? blue' })

  const asked: string[] = []
  const first = await ask('/plain', 'ask: Which size?', {
    turn: {
      askId: 't_asks',
      async ask(questions) {
        asked.push(...questions.map(({ text }) => text))
        return undefined
      },
    },
  })
  expect(first.verdict).toMatchObject({ outcome: 'blocked' })
  expect(asked).toEqual(['Which size?'])
  const later = { resume: first.verdict.vendorSession, turn: { askId: 't_asks.0123456789abcdef' } }
  const second = await ask('/plain', 'large', later)
  expect(second.verdict).toMatchObject({ outcome: 'succeeded', text: 'You answered: large' })
  expect(second.mark.task).toBe(first.mark.task)
  // A run that died after it had answered does not answer twice.
  const third = await ask('/plain', 'large', later)
  expect(third.verdict).toMatchObject({ outcome: 'succeeded', text: 'You answered: large' })
  expect(peer.seen.messages.filter(({ task }) => task === first.mark.task).map(({ text }) => text)).toEqual([
    'ask: Which size?',
    'large',
  ])
}, 30_000)

test('an answer that was given while a run waited is not taken for the answer to the next question by the run that follows', async () => {
  const stop = new AbortController()
  const first = await ask('/plain', 'twice: Which colour?', {
    turn: {
      askId: 't_twice',
      signal: stop.signal,
      goesOnLater: () => true,
      async ask([question]) {
        if (question?.text === 'Which colour?') return ['blue']
        stop.abort()
        return undefined
      },
    },
  })
  expect(first.mark).toMatchObject({ sent: 't_twice', live: expect.any(String) })
  const asked: string[] = []
  const second = await ask('/plain', 'blue', {
    resume: first.verdict.vendorSession,
    turn: {
      askId: 't_twice.0123456789abcdef',
      async ask(questions) {
        asked.push(...questions.map(({ text }) => text))
        return ['large']
      },
    },
  })
  expect(asked).toEqual(['And the size?'])
  expect(second.verdict).toMatchObject({ outcome: 'succeeded', text: 'You answered: large' })
  const said = peer.seen.messages.filter(({ task }) => task === first.mark.task).map(({ text }) => text)
  expect(said).toEqual(['twice: Which colour?', 'blue', 'large'])
}, 20_000)

test.each([
  ['fail: the disk is full', { outcome: 'failed', category: 'reported_failure', message: /failed: the disk is full/ }],
  ['reject: not my job', { outcome: 'failed', category: 'reported_failure', message: /does not take this task: not my job/ }],
  ['login: visit the bank', { outcome: 'failed', category: 'auth_failed', message: /visit the bank Do what it asks for/ }],
])('%s', async (prompt, { message, ...rest }) => {
  const { verdict } = await ask('/plain', prompt)
  expect(verdict).toMatchObject({ ...rest, message: expect.stringMatching(message) })
})

test('a task that failed there is asked anew when it is tried again, in the same conversation', async () => {
  const first = await ask('/plain', 'fail: once', { turn: { askId: 't_again' } })
  const second = await ask('/plain', 'fail: once', { resume: first.verdict.vendorSession, turn: { askId: 't_again' } })
  expect(second.mark.context).toBe(first.mark.context)
  expect(tasksOf('fail: once')).toBe(2)
})

test('cancelling here cancels there, and stopping for a restart does not', async () => {
  for (const goesOn of [false, true]) {
    const stop = new AbortController()
    const { mark, verdict } = await ask('/plain', 'wait: for ever', {
      turn: {
        signal: stop.signal,
        goesOnLater: () => goesOn,
        async emit({ type }) {
          if (type === 'agent.message') stop.abort()
        },
      },
    })
    expect(verdict.outcome).toBe('partial')
    expect(peer.seen.cancelled.includes(mark.task ?? '')).toBe(!goesOn)
  }
  peer.release()
}, 20_000)

test('files come along as files, and those that come back keep to their folder', async () => {
  const place = await makePlace()
  await writeFile(join(place.home, 'notes.txt'), 'some notes')
  const { verdict, artifacts } = await ask('/plain', 'files: forty-two', { env: { PAWL_ATTACHMENTS: place.home } })
  expect(verdict).toMatchObject({ outcome: 'succeeded', text: 'see the file' })
  expect(peer.seen.messages.at(-1)?.files).toEqual(['notes.txt=some notes'])
  expect((await readdir(artifacts)).toSorted()).toEqual(['bashrc', 'report.txt'])
  expect(await readFile(join(artifacts, 'report.txt'), 'utf8')).toBe('forty-two')
})

test('pieces of one artifact are one text, and what is too large for a stream is read from the task', async () => {
  expect((await ask('/plain', 'pieces: one two three')).verdict.text).toBe('one two three')
  const large = await ask('/plain', 'huge: 5')
  expect(large.verdict).toMatchObject({ outcome: 'succeeded' })
  expect(large.verdict.text.length).toBeLessThan(1_100_000)
  const flood = await ask('/plain', 'huge: 33')
  expect(flood.verdict).toMatchObject({ outcome: 'failed', category: 'output_limit' })
}, 60_000)

test('the key goes to the agent that it is for, in the header that is wanted, and a wrong one is said', async () => {
  const right = { PAWL_A2A_KEY: 'right-key-0123456789' }
  expect((await ask('/keyed', 'say: a', { env: right })).verdict.outcome).toBe('succeeded')
  expect((await ask('/named', 'say: b', { env: right, options: { keyHeader: 'X-API-Key' } })).verdict.outcome).toBe('succeeded')
  const secret = { env: { COLLEAGUE: 'right-key-0123456789' }, options: { keyVariable: 'COLLEAGUE' } }
  expect((await ask('/keyed', 'say: c', secret)).verdict.outcome).toBe('succeeded')
  const none = await ask('/keyed', 'say: d')
  expect(none.verdict).toMatchObject({ category: 'auth_failed', message: expect.stringContaining('wants a key') })
  const wrong = await ask('/keyed', 'say: e', { env: { PAWL_A2A_KEY: 'wrong-key' } })
  expect(wrong.verdict).toMatchObject({ category: 'auth_failed', message: expect.stringContaining('refused the key') })
})

test('a trace goes on there', async () => {
  const trace = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
  await ask('/plain', 'say: traced', { turn: { trace } })
  expect(peer.seen.calls.at(-1)?.headers.traceparent).toBe(trace)
})

const refusals: [string, Record<string, unknown>, RegExp][] = [
  ['/tampered', {}, /its signature is wrong/],
  ['/plain', { verify: 'required' }, /it is not signed/],
  [
    '/signed',
    {
      cardKey: {
        kty: 'EC',
        crv: 'P-256',
        x: 'MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4',
        y: '4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM',
      },
    },
    /not signed with the key that cardKey names/,
  ],
  ['/elsewhere', {}, /127\.0\.0\.3:9\/rpc, which is not on 127\.0\.0\.1/],
  ['/redirect', {}, /redirects to http:\/\/127\.0\.0\.2:9\/card\.json, which is not followed/],
  ['/nowhere', {}, /There is no agent card at/],
]
test.each(refusals)('a card at %s with %o is refused, by the probe and by a run', async (path, options, why) => {
  const parsed = a2a.options.parse({ url: `${peer.url}${path}`, ...options })
  expect(await a2a.probe(parsed, { path: '' })).toMatchObject({
    installed: true,
    healthy: false,
    detail: expect.stringMatching(why),
  })
  const { verdict } = await ask(path, 'say: never', { options })
  expect(verdict).toMatchObject({ outcome: 'failed', category: 'bad_config', message: expect.stringMatching(why) })
  expect(tasksOf('say: never')).toBe(0)
})

test('the probe says what the card says, and who signed it', async () => {
  const probe = (path: string, options = {}) =>
    a2a.probe(a2a.options.parse({ url: `${peer.url}${path}`, ...options }), { path: '' })
  expect(await probe('/plain')).toMatchObject({
    healthy: true,
    version: '1.2.0',
    detail: `Colleague 1.2.0 at ${peer.url}/plain/rpc; A2A 1.0 by JSONRPC, streaming; skills: Repeating; card not signed`,
  })
  expect((await probe('/signed')).detail).toContain('card signed by peer-1, with a key of its own host')
  expect((await probe('/pinned', { cardKey: peer.key })).detail).toContain('card signed by peer-1, with the key of cardKey')
  expect((await probe('/pinned')).detail).toContain('card signed by peer-1, unchecked')
  expect((await probe('/old')).detail).toContain('A2A 0.3 by JSONRPC')
  expect(await probe('/keyed')).toMatchObject({ healthy: true, detail: expect.stringContaining('only to those who have a key') })
  const gone = await a2a.probe(a2a.options.parse({ url: 'http://127.0.0.1:1/' }), { path: '' })
  expect(gone).toMatchObject({
    installed: true,
    healthy: false,
    detail: expect.stringContaining('cannot be reached: ECONNREFUSED'),
    fix: expect.any(String),
  })
})

test('settings that would give the key away are refused, and so is a name that leads to this machine', async () => {
  const why = (options: object) => a2a.options.safeParse(options).error?.issues[0]?.message
  expect(why({ url: 'http://agent.example' })).toContain('must be https')
  expect(why({ url: 'https://user:secret@agent.example' })).toContain('must hold no key')
  expect(why({ url: 'ftp://agent.example' })).toContain('must be the http or https address')
  expect(why({ url: 'https://agent.example', verify: 'off', cardKey: 'x' })).toContain('must not be off')
  const local = `https://localhost:${new URL(peer.url).port}`
  const health = await a2a.probe(a2a.options.parse({ url: local }), { path: '' })
  expect(health).toMatchObject({
    healthy: false,
    detail: expect.stringContaining('which is not public'),
    fix: expect.stringContaining('local'),
  })
})
