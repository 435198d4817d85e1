import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { LaunchSpec } from '../port.ts'
import { codexCommand } from './command.ts'
import { emptyDatabases, makeDatabases } from './databases.ts'
import { CodexOptions } from './options.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'codex-databases-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

/** Makes a database as the program does, leaves what it wrote in the log beside it, answers, and ends when it is let go. */
const maker = `
const { DatabaseSync } = require('node:sqlite')
const { writeFileSync } = require('node:fs')
const database = new DatabaseSync(process.env.CODEX_SQLITE_HOME + '/state_5.sqlite')
database.exec('PRAGMA journal_mode = WAL; CREATE TABLE threads (id TEXT)')
process.stdin.once('data', (line) => {
  writeFileSync(__dirname + '/told.json', JSON.stringify({ line: String(line), env: process.env }))
  console.log('{"id":1,"result":{}}')
}).on('end', () => process.kill(process.pid, 'SIGKILL'))
`
async function program(source: string): Promise<string> {
  const file = join(folder, 'codex.cjs')
  await writeFile(file, `#!${process.execPath} --no-warnings\n${source}`)
  await chmod(file, 0o755)
  return file
}
const well = maker.replace("process.kill(process.pid, 'SIGKILL')", 'process.reallyExit(0)')
const spec = (more: Partial<LaunchSpec<CodexOptions>>): LaunchSpec<CodexOptions> => ({
  options: CodexOptions.parse({}),
  prompt: 'go',
  workspace: '/w',
  home: join(folder, 'home'),
  extraArgs: [],
  version: '0.166.0',
  walled: true,
  ...more,
})

test('a conversation that begins is given the databases that the program made where there was nothing', async () => {
  const file = await program(well)
  expect(codexCommand(spec({ program: file })).env.CODEX_SQLITE_HOME).toBe('/tmp/codex-databases')
  await makeDatabases({ program: file, version: '0.166.0' })

  const { env, files } = codexCommand(spec({ program: file }))
  expect(env.CODEX_SQLITE_HOME).toBe(join(folder, 'home/.codex/pawl-databases'))
  const copy = join(folder, 'copy.sqlite')
  await writeFile(copy, files?.['.codex/pawl-databases/state_5.sqlite'] ?? '')
  const database = new DatabaseSync(copy)
  expect(database.prepare('SELECT name FROM sqlite_schema').all()).toEqual([{ name: 'threads' }])
  database.close()

  const { line, env: given } = JSON.parse(await readFile(join(folder, 'told.json'), 'utf8'))
  expect(JSON.parse(line)).toMatchObject({ method: 'initialize' })
  expect(Object.keys(given).filter((name) => /KEY|TOKEN|PAWL/.test(name))).toEqual([])
  expect(existsSync(given.CODEX_HOME)).toBe(false)
})

test('one that is gone on with, one without walls, and one whose home has databases get none', async () => {
  const file = await program(well)
  await makeDatabases({ program: file, version: '0.166.0' })
  const given = (more: Partial<LaunchSpec<CodexOptions>>) =>
    Object.keys(codexCommand(spec({ program: file, ...more })).files ?? {})
  expect(given({})).toContain('.codex/pawl-databases/state_5.sqlite')
  const without = [
    { resume: '01a1de03-f204-73f1-a540-d5327fbf2880' },
    { walled: false },
    { version: '0.167.0' },
    { options: CodexOptions.parse({ transport: 'exec' }) },
  ]
  for (const more of without) expect(given(more)).not.toContain('.codex/pawl-databases/state_5.sqlite')
  await mkdir(join(folder, 'home/.codex/pawl-databases'), { recursive: true })
  expect(given({})).not.toContain('.codex/pawl-databases/state_5.sqlite')
})

test('a program whose version nobody asked is not run, and one that does not end well is left to make its own', async () => {
  const file = await program(maker)
  await makeDatabases({ program: file, version: undefined })
  await expect(readFile(join(folder, 'told.json'))).rejects.toThrow('ENOENT')
  await makeDatabases({ program: file, version: '0.166.0' })
  expect(emptyDatabases({ program: file, version: '0.166.0' })).toBeUndefined()
  await makeDatabases({ program: join(folder, 'gone'), version: '0.166.0' })
  expect(emptyDatabases({ program: join(folder, 'gone'), version: '0.166.0' })).toBeUndefined()
})
