import { mkdir, readdir, readFile, rm, symlink, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, expect, it } from 'vitest'
import { canOnly } from '../../src/agents/port.ts'
import { cutCalls } from '../../src/engine/run/cut-calls.ts'
import { archiveSession } from '../../src/engine/session/archive.ts'
import { findConversation, type Look, lookFor, openHome } from '../../src/engine/session/home.ts'
import { closeSessions, conversations, makeSession, said, talkAdapter } from './session-parts.ts'

afterAll(closeSessions)

const id = '0b9e6c1e-5f0a-4d7b-9a51-3c1f2a6d8e70'
const main = `.talk/projects/-w/${id}.jsonl`
const flat = `.talk/flat/talk-1-${id}.jsonl`

/** Looks for real, and keeps what it was asked. */
function countingLook() {
  const looks: string[] = []
  const look: Look = (home, pattern) => {
    looks.push(pattern)
    return lookFor(home, pattern)
  }
  return { look, looks }
}

type Session = Awaited<ReturnType<typeof makeSession>>

/** A session whose first task is done, and a second task that is about to go on with its conversation. */
async function makeTalk() {
  const parts = await makeSession()
  const first = await parts.addTask('Plant a tree.')
  const run = await parts.begin(first, said('Planted.'))
  await parts.write(main, 'planted\n')
  await parts.setVendorId(id)
  const archive = (by: { id: string; fence: number }) => {
    const { db, home, session } = parts
    return archiveSession({ db, home, files: conversations, session, vendorId: id, run: by, at: new Date() })
  }
  await archive(run)
  await parts.end(run)
  const task = await parts.addTask('Water it.')
  const next = await parts.begin(task)
  return { ...parts, first, task, next, archive, loseFiles: () => rm(join(parts.home, '.talk'), { recursive: true }) }
}
const forgetArchive = ({ db, session }: Session) => sql`delete from pawl.session_files where session_id = ${session}`.execute(db)
const chunksOf = (session: string) => sql`file_id in (select id from pawl.session_files where session_id = ${session})`
const staleIds = (parts: Session) =>
  parts.logged
    .filter((line) => line.reason === 'stale_session' && line.session === parts.session)
    .map(({ level, session, vendorId, why }) => ({ level, session, vendorId, why }))

it('without an id nothing is looked for, a hit in the first place takes one look, and every place is tried before giving up', async () => {
  const talk = await makeTalk()
  const one = countingLook()
  expect(await talk.pass(talk.next, { look: one.look })).toEqual({ how: 'resumed', resume: id })
  expect(one.looks).toEqual([`.talk/projects/*/${id}.jsonl`])

  const two = countingLook()
  await forgetArchive(talk)
  await talk.write(flat, 'planted\n')
  await rm(join(talk.home, main))
  expect(await talk.pass(talk.next, { look: two.look })).toEqual({ how: 'resumed', resume: id })
  expect(two.looks).toEqual([`.talk/projects/*/${id}.jsonl`, `.talk/flat/talk-*${id}.jsonl`])

  const none = countingLook()
  await talk.setVendorId(null)
  expect(await talk.pass(talk.next, { look: none.look })).toEqual({ how: 'new' })
  expect(await talk.pass(talk.next, { look: none.look, fresh: true })).toEqual({ how: 'new' })
  expect(none.looks).toEqual([])
  expect(await talk.sessionEvents(talk.task)).toEqual([])
})

it('a file of another conversation, or a link in its place, is no hit', async () => {
  const talk = await makeTalk()
  await talk.loseFiles()
  await talk.write('.talk/projects/-w/11111111-5f0a-4d7b-9a51-3c1f2a6d8e70.jsonl', 'another')
  await symlink(join(talk.home, '.talk/projects/-w/11111111-5f0a-4d7b-9a51-3c1f2a6d8e70.jsonl'), join(talk.home, main))
  expect(await talk.pass(talk.next)).toEqual({ how: 'restored', resume: id })
  expect(await readFile(join(talk.home, main), 'utf8')).toBe('planted\n')
})

it('of several files the first by its name is the conversation, if the program writes stubs beside it', async () => {
  const talk = await makeTalk()
  await forgetArchive(talk)
  await rm(join(talk.home, main))
  await talk.write(`.talk/flat/talk-1-${id}.jsonl`, 'planted\n')
  await talk.write(`.talk/flat/talk-2-${id}.jsonl`, 'stub\n')
  const pathOf = async (oldest: boolean) => {
    const home = (await openHome(talk.home))!
    const found = await findConversation(home, { ...conversations, oldest }, id)
    await home.root.close()
    return found?.path
  }
  expect([await pathOf(true), await pathOf(false)]).toEqual([`.talk/flat/talk-1-${id}.jsonl`, `.talk/flat/talk-2-${id}.jsonl`])
})

it('a conversation that the program cannot go on with under the rules is told to a new one, though its file is there', async () => {
  const talk = await makeTalk()
  expect(await talk.pass(talk.next, { mustRetell: true })).toMatchObject({
    how: 'retold',
    preface: expect.stringContaining('Planted.'),
  })
  expect(await talk.sessionEvents(talk.task)).toMatchObject([
    { type: 'session.rebuilt', data: { why: 'rules', form: 'message' } },
  ])
})

it('calls of the last run to which nothing came back were cut short; those of earlier runs are history', async () => {
  const parts = await makeSession()
  const task = await parts.addTask('Plant a tree.')
  const called = (callId: string, input: object) =>
    ({ type: 'agent.tool_called', data: { callId, tool: 'shell', input } }) as const
  const returned = (callId: string) => ({ type: 'agent.tool_returned', data: { callId, output: '', isError: false } }) as const
  expect(await cutCalls(parts.db, parts.session)).toEqual([])
  const first = await parts.begin(task, called('a', { command: 'dig' }))
  expect(await cutCalls(parts.db, parts.session)).toEqual([{ tool: 'shell', input: { command: 'dig' } }])
  await parts.end(first, 'interrupted')
  await parts.begin(task, called('a', { command: 'dig' }), returned('a'), called('b', { command: 'plant' }), called('c', {}))
  expect(await cutCalls(parts.db, parts.session)).toEqual([
    { tool: 'shell', input: { command: 'plant' } },
    { tool: 'shell', input: {} },
  ])
})

it('lost files come back from the archive, and the journal says so', async () => {
  const talk = await makeTalk()
  await talk.loseFiles()
  expect(await talk.pass(talk.next)).toEqual({ how: 'restored', resume: id })
  expect(await readFile(join(talk.home, main), 'utf8')).toBe('planted\n')
  expect(await talk.sessionEvents(talk.task)).toMatchObject([
    { type: 'session.restored', run: talk.next.id, data: { vendorId: id, why: 'missing', files: 1, bytes: 8 } },
  ])
  expect(await talk.row()).toMatchObject({ vendor_id: id })
  expect(staleIds(talk)).toEqual([])
})

it('a file that lost its end in a power cut is restored', async () => {
  const talk = await makeTalk()
  await truncate(join(talk.home, main), 3)
  expect(await talk.pass(talk.next)).toEqual({ how: 'restored', resume: id })
  expect(await readFile(join(talk.home, main), 'utf8')).toBe('planted\n')
  await truncate(join(talk.home, main), 3)
  await sql`delete from pawl.session_chunks where ${chunksOf(talk.session)}`.execute(talk.db)
  // The archive is worse than what is there.
  expect(await talk.pass(talk.next)).toEqual({ how: 'resumed', resume: id })
})

it('a file that has gone another way than the session is restored, one that only went on is not', async () => {
  const talk = await makeTalk()
  await talk.write(main, 'planted\nand grew\n')
  expect(await talk.pass(talk.next)).toEqual({ how: 'resumed', resume: id })
  await talk.write(main, 'felled!\nand burned\n')
  expect(await talk.pass(talk.next)).toEqual({ how: 'restored', resume: id })
  expect(await readFile(join(talk.home, main), 'utf8')).toBe('planted\n')
  expect(await talk.sessionEvents(talk.task)).toMatchObject([{ type: 'session.restored', data: { why: 'strayed' } }])
})

it('a file that the program refused is replaced by the archive, also where it lay elsewhere', async () => {
  const talk = await makeTalk()
  await rm(join(talk.home, main))
  await talk.write(flat, 'broken')
  expect(await talk.pass(talk.next, { care: 'restore' })).toEqual({ how: 'restored', resume: id })
  expect(await readdir(join(talk.home, '.talk/flat'))).toEqual([])
  expect(await talk.sessionEvents(talk.task)).toMatchObject([{ type: 'session.restored', data: { why: 'refused' } }])
})

it('without an archive the conversation is rebuilt in the form of the program, under its own id', async () => {
  const talk = await makeTalk()
  await talk.loseFiles()
  await forgetArchive(talk)
  expect(await talk.pass(talk.next)).toEqual({ how: 'rebuilt', resume: id })
  const rebuilt = await readFile(join(talk.home, `.talk/projects/rebuilt/${id}.jsonl`), 'utf8')
  const lines = rebuilt
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  const at = expect.any(String)
  expect(lines).toEqual([
    { workspace: '/w' },
    { kind: 'user', text: 'Plant a tree.', at },
    { kind: 'agent', text: 'Planted.', at },
  ])
  expect(await talk.sessionEvents(talk.task)).toMatchObject([
    { type: 'session.rebuilt', data: { vendorId: id, why: 'missing', form: 'native', utterances: 2 } },
  ])
  expect(staleIds(talk)).toEqual([])
})

it('a damaged archive is passed over', async () => {
  const talk = await makeTalk()
  await talk.loseFiles()
  await sql`update pawl.session_chunks set bytes = set_byte(bytes, length(bytes) - 6, 7) where ${chunksOf(talk.session)}`.execute(
    talk.db,
  )
  expect(await talk.pass(talk.next)).toMatchObject({ how: 'rebuilt' })
})

it('what was refused is rebuilt under a new id, and the old one is dropped with a tag one can search for', async () => {
  const talk = await makeTalk()
  const passed = await talk.pass(talk.next, { care: 'rebuild' })
  expect(passed).toEqual({ how: 'rebuilt', resume: expect.stringMatching(conversations.id) })
  expect(passed.resume).not.toBe(id)
  expect(await talk.row()).toMatchObject({ vendor_id: passed.resume })
  expect(await talk.pass(talk.next)).toEqual({ how: 'resumed', resume: passed.resume })
  expect(staleIds(talk)).toEqual([{ level: 'info', session: talk.session, vendorId: id, why: 'refused' }])
})

it('an id that this program cannot have given is never looked for, and is dropped on this very run', async () => {
  const talk = await makeTalk()
  const { look, looks } = countingLook()
  await talk.setVendorId('../../etc/passwd')
  const passed = await talk.pass(talk.next, { look })
  expect(passed).toMatchObject({ how: 'rebuilt', resume: expect.stringMatching(conversations.id) })
  expect(looks).toEqual([])
  expect(staleIds(talk)).toMatchObject([{ vendorId: '../../etc/passwd', why: 'bad_id' }])
})

it('a program that cannot be given a conversation is told it, again until it has named one in which it heard it', async () => {
  const talk = await makeTalk()
  await talk.loseFiles()
  await forgetArchive(talk)
  const { rebuild: _, ...sessions } = conversations
  const adapter = talkAdapter({ sessions })
  const passed = await talk.pass(talk.next, { adapter })
  expect(passed).toEqual({ how: 'retold', preface: expect.stringContaining('USER:\nPlant a tree.\n\nYOU:\nPlanted.') })
  expect(await talk.row()).toMatchObject({ vendor_id: null, retell: true })
  expect(staleIds(talk)).toEqual([{ level: 'info', session: talk.session, vendorId: id, why: 'missing' }])

  // The run dies before the program has said what its conversation is called.
  await talk.end(talk.next, 'interrupted')
  const again = await talk.begin(talk.task)
  expect(await talk.pass(again, { adapter })).toEqual(passed)
  await talk.setVendorId('22222222-5f0a-4d7b-9a51-3c1f2a6d8e70')
  await talk.write('.talk/projects/-w/22222222-5f0a-4d7b-9a51-3c1f2a6d8e70.jsonl', 'x')
  expect(await talk.pass(again, { adapter })).toMatchObject({ how: 'resumed' })
  expect((await talk.sessionEvents(talk.task)).map(({ type, data }) => [type, data])).toEqual([
    ['session.rebuilt', { why: 'missing', form: 'message', utterances: 2 }],
    ['session.rebuilt', { why: 'unheard', form: 'message', utterances: 2 }],
  ])
})

it('an adapter that fails to rebuild does not take the conversation down with it', async () => {
  const talk = await makeTalk()
  const rebuild = () => {
    throw new Error('no')
  }
  const adapter = talkAdapter({ sessions: { ...conversations, rebuild } })
  expect(await talk.pass(talk.next, { adapter, care: 'rebuild' })).toMatchObject({ how: 'retold' })
})

it('where nothing is known of the conversation a new one begins, and says so', async () => {
  const parts = await makeSession()
  const task = await parts.addTask('Plant a tree.')
  const run = await parts.begin(task)
  await parts.setVendorId(id)
  expect(await parts.pass(run)).toEqual({ how: 'reset' })
  expect(await parts.row()).toMatchObject({ vendor_id: null, retell: false })
  expect(await parts.sessionEvents(task)).toMatchObject([{ type: 'session.reset', data: { vendorId: id, why: 'missing' } }])
  expect(staleIds(parts)).toMatchObject([{ vendorId: id, why: 'missing' }])
  expect(await parts.pass(run)).toEqual({ how: 'new' })
})

it('a new conversation that was asked for begins without a look, and what was before is not told later', async () => {
  const talk = await makeTalk()
  const { look, looks } = countingLook()
  expect(await talk.pass(talk.next, { fresh: true, look })).toEqual({ how: 'reset' })
  expect(looks).toEqual([])
  expect(await talk.sessionEvents(talk.task)).toMatchObject([{ type: 'session.reset', data: { vendorId: id, why: 'asked' } }])
  expect(await talk.row()).toMatchObject({ vendor_id: null })
  await talk.setVendorId('22222222-5f0a-4d7b-9a51-3c1f2a6d8e70')
  expect(await talk.pass(talk.next)).toEqual({ how: 'reset' })
})

it('a run that has lost its task changes neither files nor rows', async () => {
  const talk = await makeTalk()
  await talk.loseFiles()
  await talk.end(talk.next, 'interrupted')
  expect(await talk.pass(talk.next)).toEqual({ how: 'lost' })
  expect(await talk.pass(talk.next, { care: 'rebuild' })).toEqual({ how: 'lost' })
  expect(await talk.pass(talk.next, { fresh: true })).toEqual({ how: 'lost' })
  expect(await readdir(talk.home)).toEqual([])
  expect(await talk.row()).toMatchObject({ vendor_id: id })
  expect(await talk.sessionEvents(talk.task)).toEqual([])
})

it('a program that keeps no files is asked by its id alone, and one that cannot go on never', async () => {
  const talk = await makeTalk()
  const fileless = talkAdapter({ sessions: undefined })
  expect(await talk.pass(talk.next, { adapter: fileless })).toEqual({ how: 'resumed', resume: id })
  expect(await talk.pass(talk.next, { adapter: talkAdapter({ can: canOnly() }) })).toEqual({ how: 'new' })
  expect(await talk.pass(talk.next, { adapter: fileless, care: 'restore' })).toMatchObject({ how: 'retold' })
})

it('restoring follows no link that the agent left in its home', async () => {
  const talk = await makeTalk()
  await talk.loseFiles()
  const outside = join(talk.home, '..', `${talk.session}-outside`)
  await mkdir(outside)
  await writeFile(join(outside, 'theirs'), 'untouched')
  await symlink(outside, join(talk.home, '.talk'))
  expect(await talk.pass(talk.next)).toMatchObject({ how: 'restored' })
  expect(await readdir(outside)).toEqual(['theirs'])
  await rm(outside, { recursive: true })
})
