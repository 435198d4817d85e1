import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { appendFile, link, lstat, mkdir, mkdtemp, readFile, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, expect, it, onTestFinished } from 'vitest'
import { archiveSession } from '../../src/engine/session/archive.ts'
import { openHome, withFile } from '../../src/engine/session/home.ts'
import { DamagedArchive, restoreSession } from '../../src/engine/session/restore.ts'
import { archiveSize, knownFiles, readFile as readArchived } from '../../src/store/session-archive.ts'
import { agentUser, closeSessions, conversations, makeSession } from './session-parts.ts'

afterAll(closeSessions)

const id = '0b9e6c1e-5f0a-4d7b-9a51-3c1f2a6d8e70'
const main = `.talk/projects/-w/${id}.jsonl`
const output = `.talk/projects/-w/${id}/tool-results/one.txt`

/** A session with a run that may archive, and what an archive holds. */
async function makeArchive() {
  const parts = await makeSession()
  const task = await parts.addTask('x')
  const run = await parts.begin(task)
  const { db, session, home } = parts
  const archive = (changes: { home?: string; vendorId?: string; limits?: { bytes: number; files: number } } = {}) =>
    archiveSession({ db, home, files: conversations, session, vendorId: id, run, at: new Date(), ...changes })
  const archived = async () => {
    const found: Record<string, string> = {}
    for (const file of await knownFiles(db, session, id)) {
      const chunks: Buffer[] = []
      for await (const bytes of readArchived(db, file)) chunks.push(bytes)
      found[file.path] = Buffer.concat(chunks).toString('latin1')
    }
    return found
  }
  const restore = async (home: string, changes: { refused?: string } = {}) => {
    const opened = (await openHome(home))!
    try {
      return await restoreSession(db, { home: opened, user: agentUser, session, vendorId: id, ...changes })
    } finally {
      await opened.root.close()
    }
  }
  return { ...parts, task, run, archive, archived, restore }
}

const chunksOf = (session: string) => sql`file_id in (select id from pawl.session_files where session_id = ${session})`

async function emptyFolder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'pawl-elsewhere-'))
  onTestFinished(() => rm(path, { recursive: true, force: true }))
  return path
}

it('ships only what a file gained, torn last line and all, and restores every byte elsewhere', async () => {
  const { write, archive, archived, restore, home, db, session } = await makeArchive()
  await write(main, '{"n":1}\n')
  await write(output, 'long output')
  await write('.talk/login.json', 'secret')
  await write(`.talk/projects/-w/11111111-5f0a-4d7b-9a51-3c1f2a6d8e70.jsonl`, 'somebody else')
  expect(await archive()).toEqual({ files: 2, bytes: 19, notes: [] })
  expect(await archive()).toEqual({ files: 0, bytes: 0, notes: [] })
  await appendFile(join(home, main), '{"n":2}\n{"torn')
  expect(await archive()).toEqual({ files: 1, bytes: 14, notes: [] })
  expect(await archived()).toEqual({ [main]: '{"n":1}\n{"n":2}\n{"torn', [output]: 'long output' })
  expect(await archiveSize(db, session)).toBe(33)

  const elsewhere = await emptyFolder()
  expect(await restore(elsewhere)).toEqual({ files: 2, bytes: 33 })
  expect(await readFile(join(elsewhere, main), 'utf8')).toBe('{"n":1}\n{"n":2}\n{"torn')
  for (const path of [main, output]) {
    const { mode, uid } = await lstat(join(elsewhere, path))
    expect([mode & 0o777, uid]).toEqual([0o600, agentUser?.uid ?? process.getuid!()])
    expect((await lstat(join(elsewhere, dirname(path)))).uid).toBe(uid)
  }
})

it('stores a file anew when what was stored of it is not there any more', async () => {
  const { write, archive, archived, home } = await makeArchive()
  await write(main, 'a'.repeat(100_000))
  await archive()
  await write(main, `${'a'.repeat(99_999)}b and more`)
  expect(await archive()).toMatchObject({ files: 1, bytes: 100_009 })
  await truncate(join(home, main), 10)
  expect(await archive()).toMatchObject({ files: 1, bytes: 10 })
  expect(await archived()).toEqual({ [main]: 'a'.repeat(10) })
  // A power cut leaves empty files, and they are no reason to forget what was.
  await truncate(join(home, main), 0)
  expect(await archive()).toMatchObject({ files: 0, bytes: 0 })
  expect(await archived()).toEqual({ [main]: 'a'.repeat(10) })
})

it('cuts large files into chunks of a megabyte at most', async () => {
  const { write, archive, archived, restore, db, session } = await makeArchive()
  const bytes = randomBytes(2_500_000)
  await write(main, bytes)
  expect(await archive()).toMatchObject({ bytes: 2_500_000 })
  const { rows } = await sql<{
    length: number
  }>`select length from pawl.session_chunks where ${chunksOf(session)} order by start`.execute(db)
  expect(rows.map((row) => row.length)).toEqual([1_000_000, 1_000_000, 500_000])
  expect(Object.values(await archived())).toEqual([bytes.toString('latin1')])
  const elsewhere = await emptyFolder()
  await restore(elsewhere)
  expect((await readFile(join(elsewhere, main))).equals(bytes)).toBe(true)
})

it('a run that has lost its lease archives nothing', async () => {
  const { write, archive, archived, end, run } = await makeArchive()
  await write(main, 'one\n')
  await archive()
  await write(main, 'one\ntwo\n')
  await end(run, 'interrupted')
  expect(await archive()).toBeUndefined()
  expect(await archived()).toEqual({ [main]: 'one\n' })
})

it('a link that an agent puts in the place of its file or folder is never read', async () => {
  const { write, archive, archived, home } = await makeArchive()
  const secrets = await emptyFolder()
  const secret = join(secrets, `${id}.jsonl`)
  await writeFile(secret, 'our token', { mode: 0o600 })
  await write(main, 'mine')
  await archive()

  await rm(join(home, main))
  await symlink(secret, join(home, main))
  expect(await archive()).toMatchObject({ files: 0, bytes: 0 })
  await rm(join(home, main))
  await link(secret, join(home, main))
  expect(await archive()).toMatchObject({ files: 0, bytes: 0 })
  await rm(join(home, '.talk/projects/-w'), { recursive: true })
  await symlink(secrets, join(home, '.talk/projects/-w'))
  expect(await archive()).toMatchObject({ files: 0, bytes: 0 })
  await rm(join(home, '.talk'), { recursive: true })
  await mkdir(join(secrets, 'projects/-w'), { recursive: true })
  await rename(secret, join(secrets, `projects/-w/${id}.jsonl`))
  await symlink(secrets, join(home, '.talk'))
  expect(await archive()).toMatchObject({ files: 0, bytes: 0 })
  await rm(join(home, '.talk'))

  await write(main, 'mine')
  await mkdir(join(home, dirname(output)), { recursive: true })
  await symlink(join(secrets, `projects/-w/${id}.jsonl`), join(home, output))
  await symlink(secrets, join(home, dirname(output), 'folder'))
  execFileSync('mkfifo', [join(home, dirname(output), 'pipe')])
  expect(await archive()).toMatchObject({ files: 0, bytes: 0 })
  expect(await archived()).toEqual({ [main]: 'mine' })
})

it('a conversation is found among more folders than are read at once', async () => {
  const { write, archive, archived, home } = await makeArchive()
  await write(main, 'mine')
  for (let n = 0; n < 300; n++) await mkdir(join(home, '.talk/projects', `other-${n}`))
  expect(await archive()).toMatchObject({ files: 1 })
  expect(await archived()).toEqual({ [main]: 'mine' })
})

it('a link that takes the place of a file after it was seen is not opened either', async () => {
  const { write, home } = await makeArchive()
  const outside = await emptyFolder()
  for (const name of ['secret', 'named-twice']) await writeFile(join(outside, name), 'our token')
  await write(main, 'mine')
  await symlink(join(outside, 'secret'), join(home, 'file'))
  await symlink(outside, join(home, 'folder'))
  await link(join(outside, 'named-twice'), join(home, 'second-name'))
  execFileSync('mkfifo', [join(home, 'pipe')])
  const opened = (await openHome(home))!
  const read = (path: string) => withFile(opened, path, async (file) => readFileSync(file, 'utf8'))
  expect(await read(main)).toBe('mine')
  for (const path of ['file', 'folder/secret', 'second-name', 'pipe', '.talk', 'none']) expect(await read(path)).toBeUndefined()
  for (const path of ['../secret', '/etc/passwd', '']) await expect(read(path)).rejects.toThrow('not a path inside a home')
  await opened.root.close()
})

it('restoring writes through no link and over no file outside the home', async () => {
  const { write, archive, restore } = await makeArchive()
  await write(main, 'mine')
  await write(output, 'long')
  await archive()
  const outside = await emptyFolder()
  await writeFile(join(outside, 'theirs'), 'untouched')

  const asFile = await emptyFolder()
  await mkdir(join(asFile, dirname(main)), { recursive: true })
  await symlink(join(outside, 'theirs'), join(asFile, main))
  await restore(asFile)
  expect((await lstat(join(asFile, main))).isFile()).toBe(true)

  const asFolder = await emptyFolder()
  await mkdir(join(asFolder, '.talk'))
  await symlink(outside, join(asFolder, '.talk/projects'))
  await restore(asFolder)
  expect(await readFile(join(asFolder, main), 'utf8')).toBe('mine')

  const inTheWay = await emptyFolder()
  await mkdir(join(inTheWay, main), { recursive: true })
  await writeFile(join(inTheWay, main, 'kept'), 'kept')
  await restore(inTheWay)
  expect(await readFile(join(inTheWay, main), 'utf8')).toBe('mine')

  expect(await readFile(join(outside, 'theirs'), 'utf8')).toBe('untouched')
  expect(execFileSync('find', [outside, '-type', 'f'], { encoding: 'utf8' })).toBe(`${join(outside, 'theirs')}\n`)
})

it('a conversation that outgrows the archive is noted, and its older state is not restored', async () => {
  const { write, archive, restore } = await makeArchive()
  const limits = { bytes: 100, files: 3 }
  await write(main, 'x'.repeat(60))
  await write(output, 'y'.repeat(60))
  const { notes } = (await archive({ limits }))!
  expect(notes).toEqual([{ code: 'archive_full', detail: expect.stringContaining(output) }])
  expect(await restore(await emptyFolder())).toEqual({ files: 1, bytes: 60 })
  await write(main, 'x'.repeat(101))
  expect((await archive({ limits }))?.notes).toHaveLength(1)
  expect(await restore(await emptyFolder())).toBeUndefined()
  await write(main, 'x'.repeat(99))
  expect((await archive({ limits }))?.bytes).toBe(39)
  expect(await restore(await emptyFolder())).toMatchObject({ bytes: 99 })
})

it('a damaged archive is not restored, and the file that is there stays', async () => {
  const { write, archive, restore, home, db, session } = await makeArchive()
  await write(main, 'one\n')
  await archive()
  await write(main, 'one\ntwo\n')
  await archive()
  await sql`delete from pawl.session_chunks where start > 0 and ${chunksOf(session)}`.execute(db)
  await expect(restore(home)).rejects.toThrow(DamagedArchive)
  expect(await readFile(join(home, main), 'utf8')).toBe('one\ntwo\n')
})

it('keeps one conversation of a session, in one place', async () => {
  const { write, archive, archived, home, db, session } = await makeArchive()
  await write(main, 'one\n')
  await write(output, 'long')
  await archive()
  await write(`.talk/flat/talk-2026-${id}.jsonl`, 'one\ntwo\n')
  await rm(join(home, main))
  await archive()
  expect(Object.keys(await archived()).sort()).toEqual([`.talk/flat/talk-2026-${id}.jsonl`, output])
  const other = '22222222-5f0a-4d7b-9a51-3c1f2a6d8e70'
  await write(`.talk/projects/-w/${other}.jsonl`, 'three')
  await archive({ vendorId: other })
  expect(await archived()).toEqual({})
  expect(await archiveSize(db, session)).toBe(5)
})

it('an id that the program does not give is never part of a path', async () => {
  const { write, archive } = await makeArchive()
  await write('.talk/projects/-w/login.jsonl', 'secret')
  for (const vendorId of ['login', '*', '../login', `../../${id}`, `${id}\n`])
    expect(await archive({ vendorId })).toMatchObject({ files: 0, bytes: 0 })
})
