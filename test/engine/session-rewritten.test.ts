import { existsSync } from 'node:fs'
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { sql } from 'kysely'
import { afterAll, expect, it, onTestFinished } from 'vitest'
import type { SessionFiles } from '../../src/agents/port.ts'
import { archiveSession } from '../../src/engine/session/archive.ts'
import { conversationMark } from '../../src/engine/session/home.ts'
import { closeSessions, makeSession, talkAdapter } from './session-parts.ts'

afterAll(closeSessions)

const id = 'ses_0123456789'
const main = '.talk/talk.db'
/** A program that keeps its conversations in a database, as opencode does. */
const files: SessionFiles = {
  id: /^ses_\w+$/,
  layouts: () => [main],
  rewritten: { with: [`${main}-wal`], without: [`${main}-shm`] },
}

/** A session whose program is running, and writes a turn after the other into its database. */
async function makeTalk() {
  const parts = await makeSession()
  await mkdir(join(parts.home, '.talk'))
  const database = new DatabaseSync(join(parts.home, main))
  database.exec('pragma journal_mode = wal; create table said (turn integer, words text)')
  const close = () => database.isOpen && database.close()
  onTestFinished(() => void close())
  const task = await parts.addTask('Talk.')
  await parts.setVendorId(id)
  const run = await parts.begin(task)
  let turns = 0
  const speak = () => database.prepare('insert into said values (?, ?)').run(++turns, 'word '.repeat(400))
  const archive = (limits?: { bytes: number; files: number }) => {
    const { db, home, session } = parts
    return archiveSession({ db, home, files, session, vendorId: id, run, at: new Date(), ...(limits && { limits }) })
  }
  const pass = (home = parts.home) => parts.pass(run, { adapter: talkAdapter({ sessions: files }), home })
  const readTurns = (home = parts.home) => {
    const read = new DatabaseSync(join(home, main))
    const rows = read.prepare('select turn from said order by turn').all()
    read.close()
    return rows.length
  }
  return { ...parts, task, run, database, close, speak, archive, pass, readTurns }
}

it('a database is archived while its program waits, and comes back with all its turns, each of twenty times', async () => {
  const talk = await makeTalk()
  for (let turn = 1; turn <= 20; turn++) {
    talk.speak()
    // What moves turns from the one file to the other, at times of its own.
    if (turn % 7 === 0) talk.database.exec('pragma wal_checkpoint(restart)')
    expect(await talk.archive()).toMatchObject({ notes: [] })
    const elsewhere = `${talk.home}-${turn}`
    onTestFinished(() => rm(elsewhere, { recursive: true, force: true }))
    await mkdir(elsewhere)
    expect(await talk.pass(elsewhere)).toEqual({ how: 'restored', resume: id })
    expect(talk.readTurns(elsewhere)).toBe(turn)
  }
})

it('only what has changed of it is stored again', async () => {
  const talk = await makeTalk()
  for (let turn = 0; turn < 400; turn++) talk.speak()
  const first = await talk.archive()
  talk.speak()
  const second = await talk.archive()
  expect(second!.bytes).toBeLessThan(first!.bytes / 4)
  expect(await talk.archive()).toMatchObject({ bytes: 0 })
})

it('files that went on from what is archived are gone on with, also after a run that was cut short', async () => {
  const talk = await makeTalk()
  talk.speak()
  await talk.archive()
  expect(await talk.pass()).toEqual({ how: 'resumed', resume: id })
  talk.speak()
  expect(await talk.pass()).toEqual({ how: 'resumed', resume: id })
})

it('files of a machine that has missed a turn give way to what is archived, with nothing of them left', async () => {
  const talk = await makeTalk()
  talk.speak()
  await talk.archive()
  const stale = `${talk.home}-stale`
  onTestFinished(() => rm(stale, { recursive: true, force: true }))
  await cp(talk.home, stale, { recursive: true })
  talk.speak()
  talk.close()
  // A database that was closed has no second file: the one that the other machine still has must go.
  expect(existsSync(join(talk.home, `${main}-wal`))).toBe(false)
  await talk.archive()
  expect(await talk.pass(stale)).toEqual({ how: 'restored', resume: id })
  expect(existsSync(join(stale, `${main}-wal`))).toBe(false)
  expect(talk.readTurns(stale)).toBe(2)
  expect(await talk.pass(stale)).toEqual({ how: 'resumed', resume: id })
})

it('a restoration that was cut short is done again', async () => {
  const talk = await makeTalk()
  talk.speak()
  await talk.archive()
  talk.close()
  await rm(join(talk.home, '.talk'), { recursive: true })
  await talk.pass()
  await writeFile(join(talk.home, main), 'half of it')
  await rm(join(talk.home, `${main}.pawl-archived`))
  expect(await talk.pass()).toEqual({ how: 'restored', resume: id })
  expect(talk.readTurns()).toBe(1)
})

it('one that is too large is not archived, and what is on disk counts', async () => {
  const talk = await makeTalk()
  talk.speak()
  await talk.archive()
  talk.speak()
  expect(await talk.archive({ bytes: 1_000, files: 10 })).toMatchObject({ files: 0, notes: [{ code: 'archive_full' }] })
  expect(await talk.pass()).toEqual({ how: 'resumed', resume: id })
  expect(talk.readTurns()).toBe(2)
})

it('a write to either file shows in its mark', async () => {
  const talk = await makeTalk()
  const before = await conversationMark(talk.home, files, id)
  const unchanged = await readFile(join(talk.home, main))
  talk.speak()
  expect(await readFile(join(talk.home, main))).toEqual(unchanged)
  expect(await conversationMark(talk.home, files, id)).not.toBe(before)
})

it('nothing of it is stored for a run that is over', async () => {
  const talk = await makeTalk()
  talk.speak()
  await talk.end(talk.run)
  expect(await talk.archive()).toBeUndefined()
  const { rows } = await sql`select 1 from pawl.session_files where session_id = ${talk.session}`.execute(talk.db)
  expect(rows).toEqual([])
})
