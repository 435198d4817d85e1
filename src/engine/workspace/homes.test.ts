import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { prepareWorkspace } from './workspace.ts'

const before = process.env.HOME
let root: string
let home: string
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'pawl-homes-')))
  home = join(root, 'people/alice')
  mkdirSync(join(home, 'projects/site'), { recursive: true })
  process.env.HOME = home
})
afterEach(() => {
  if (before === undefined) delete process.env.HOME
  else process.env.HOME = before
  rmSync(root, { recursive: true, force: true })
})

const prepare = (path: string, more: { allowHome?: boolean; own?: boolean } = {}) =>
  prepareWorkspace({
    path,
    own: false,
    user: undefined,
    folder: join(root, 'copies'),
    task: 'task_1',
    fence: 1,
    without: join(root, 'pawl'),
    paths: [],
    unread: undefined,
    signal: new AbortController().signal,
    confine: undefined,
    onCopy: () => undefined,
    onProgress: () => undefined,
    ...more,
  })
const answer = (path: string, more?: { allowHome?: boolean }) =>
  prepare(path, more).then(
    () => 'taken',
    (error: Error) => error.message,
  )

it('a home folder and every folder above it is no workspace, and the refusal says what to do', async () => {
  expect(await answer(home)).toMatch(/is a home folder.*--workspace DIR.*--scratch.*--allow-home/)
  expect(await answer(dirname(home))).toContain(`holds the home folder ${home}`)
  expect(await answer('/')).toMatch(/is the root of the machine/)
  expect(await answer('/')).not.toContain('--allow-home')
  expect(await answer(join(home, 'projects'))).toBe('taken')
})

it.each(['/root', '/home'])('%s is none for anybody', async (path) => {
  expect(await answer(path)).toMatch(/home folder|does not exist|cannot be read/)
})

it.runIf(process.getuid?.() === 0)('root works in nobody else’s home either', async () => {
  const others = readFileSync('/etc/passwd', 'utf8').split('\n')
  const homes = others.map((line) => line.split(':')).filter(([, , , , , path, shell]) => path && shell === '/bin/bash')
  for (const [, , , , , path] of homes) expect(await answer(path!)).toMatch(/home folder|does not exist/)
})

it('whoever means it says so, but for the root of the machine', async () => {
  expect(await answer(home, { allowHome: true })).toBe('taken')
  expect(await answer(dirname(home), { allowHome: true })).toBe('taken')
  expect(await answer('/', { allowHome: true })).toContain('root of the machine')
})

it('by whatever way it is named: a link, a path that goes up, a folder that became a home since', async () => {
  symlinkSync(home, join(root, 'link'))
  expect(await answer(join(root, 'link'))).toContain('home folder')
  expect(await answer(`${home}/projects/..`)).toContain('home folder')
  mkdirSync(join(root, 'project'))
  expect(await answer(join(root, 'project'))).toBe('taken')
  renameSync(home, join(root, 'moved'))
  process.env.HOME = join(root, 'project')
  expect(await answer(join(root, 'project'))).toContain('home folder')
})

it('under a second name that a mount gives it', async () => {
  mkdirSync(join(root, 'alias'))
  const script = `import { assertNoHome } from ${JSON.stringify(join(import.meta.dirname, 'homes.ts'))}
    try { assertNoHome(${JSON.stringify(join(root, 'alias'))}, { called: 'workspace' }); console.log('taken') } catch (error) { console.log(error.message) }`
  const bind = ['--dev-bind', '/', '/', '--bind', dirname(home), join(root, 'alias')]
  const { stdout } = await promisify(execFile)(
    'bwrap',
    [...bind, process.execPath, '--input-type=module-typescript', '-e', script],
    {
      env: { ...process.env, HOME: home },
    },
  )
  expect(stdout).toContain(`holds the home folder ${home}`)
})

it('where keys are kept, and in the homes of Pawl, nobody works by accident', async () => {
  mkdirSync(join(root, 'project/.ssh/keys'), { recursive: true })
  expect(await answer(join(root, 'project/.ssh/keys'))).toContain(`lies in ${join(root, 'project/.ssh')}`)
  const pawl = join(root, 'elsewhere/.pawl')
  for (const folder of ['sessions/s_1', 'workspaces/task_1', 'mine']) mkdirSync(join(pawl, folder), { recursive: true })
  for (const file of ['token', 'run.json']) writeFileSync(join(pawl, file), '{}')
  for (const folder of ['', 'sessions/s_1', 'workspaces'])
    for (const allowHome of [true, false]) expect(await answer(join(pawl, folder), { allowHome })).toContain('home of Pawl')
  expect(await answer(join(pawl, 'workspaces/task_1'))).toBe('taken')
  expect(await answer(join(pawl, 'mine'))).toBe('taken')
  expect(await answer(join(root, 'elsewhere'))).toBe('taken')
})
