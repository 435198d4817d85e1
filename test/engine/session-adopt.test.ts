import { execFileSync } from 'node:child_process'
import { chmod, lstat, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, expect, it, onTestFinished } from 'vitest'
import { adoptSession } from '../../src/engine/session/adopt.ts'
import { findSession } from '../../src/store/runs.ts'
import { knownFiles } from '../../src/store/session-archive.ts'
import { agentUser, closeSessions, makeSession, talkAdapter } from './session-parts.ts'

afterAll(closeSessions)

const id = '0b9e6c1e-5f0a-4d7b-9a51-3c1f2a6d8e70'
const main = `.talk/projects/-w/${id}.jsonl`
const output = `.talk/projects/-w/${id}/tool-results/one.txt`

async function makeUser() {
  const parts = await makeSession()
  const folder = await mkdtemp(join(tmpdir(), 'pawl-adopt-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const userHome = join(folder, 'user')
  // People keep their settings elsewhere and link to them.
  await mkdir(join(folder, 'settings'), { recursive: true })
  await mkdir(userHome)
  await symlink(join(folder, 'settings'), join(userHome, '.talk'))
  for (const path of [main, output]) {
    await mkdir(dirname(join(userHome, path)), { recursive: true })
    await writeFile(join(userHome, path), `of ${path}`)
  }
  await writeFile(join(userHome, '.talk/login.json'), 'secret')
  await chmod(join(userHome, main), 0o640)
  const adopt = (changes: { vendorId?: string; adapter?: ReturnType<typeof talkAdapter> } = {}) =>
    adoptSession({
      db: parts.db,
      adapter: talkAdapter(),
      agent: 'helper',
      vendorId: id,
      userHome,
      sessionsFolder: join(folder, 'sessions'),
      user: agentUser,
      workspace: '/w',
      nowMs: Date.now(),
      ...changes,
    })
  return { ...parts, folder, userHome, adopt }
}

const listing = (folder: string) => execFileSync('find', [folder, '-printf', '%p %m %U %T@ %s\n'], { encoding: 'utf8' })

it('a conversation begun in the program goes on in a session of its own, and the program keeps its files', async () => {
  const { adopt, folder, userHome, db } = await makeUser()
  const before = [listing(userHome), listing(join(folder, 'settings'))]
  const adopted = await adopt()
  expect(adopted).toEqual({
    session: adopted.session,
    from: join(userHome, main),
    files: 2,
    bytes: 'of '.length * 2 + main.length + output.length,
  })
  expect([listing(userHome), listing(join(folder, 'settings'))]).toEqual(before)

  const home = join(folder, 'sessions', adopted.session)
  expect(await readFile(join(home, main), 'utf8')).toBe(`of ${main}`)
  expect(await readdir(join(home, '.talk'))).toEqual(['projects'])
  const { mode, uid } = await lstat(join(home, main))
  expect([mode & 0o777, uid]).toEqual([0o600, agentUser?.uid ?? process.getuid!()])
  expect((await lstat(home)).mode & 0o777).toBe(0o700)
  const adoptedFrom = join(userHome, main)
  expect(await findSession(db, adopted.session)).toMatchObject({
    agent: 'helper',
    adapter: 'talk',
    workspace: '/w',
    vendor_id: id,
    adopted_from: adoptedFrom,
  })
  expect((await knownFiles(db, adopted.session, id)).map((file) => file.path)).toEqual([main, output])
})

it('the first run of an adopted session says where it came from, once', async () => {
  const parts = await makeUser()
  const { session } = await parts.adopt()
  const task = await parts.addTask('x')
  const run = await parts.begin(task)
  const home = join(parts.folder, 'sessions', session)
  for (let passes = 0; passes < 2; passes++)
    expect(await parts.pass(run, { session: (await findSession(parts.db, session))!, home })).toEqual({
      how: 'resumed',
      resume: id,
    })
  expect(await parts.sessionEvents(task)).toMatchObject([
    { type: 'session.adopted', data: { vendorId: id, from: join(parts.userHome, main) } },
  ])
})

it('what cannot be adopted is refused in a sentence, and leaves nothing behind', async () => {
  const { adopt, folder } = await makeUser()
  const unknown = '11111111-5f0a-4d7b-9a51-3c1f2a6d8e70'
  await expect(adopt({ vendorId: unknown })).rejects.toThrow(
    new RegExp(`^Talk has no conversation ${unknown} here; looked for .*flat`),
  )
  await expect(adopt({ vendorId: '../x' })).rejects.toThrow('"../x" is not an id of a conversation of Talk')
  await expect(adopt({ adapter: talkAdapter({ sessions: undefined }) })).rejects.toThrow('Talk keeps no conversations')
  expect((await readdir(folder)).sort()).toEqual(['settings', 'user'])
})
