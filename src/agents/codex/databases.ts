import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { removeTree } from '../../sandbox/files/remove-tree.ts'
import { temporarySuffix } from '../../sandbox/files/temporary.ts'
import { systemPath } from '../../sandbox/process/program.ts'
import { start } from '../../sandbox/process/spawn.ts'
import { signal } from '../../sandbox/process/tree.ts'
import { within } from '../shared/within.ts'

/** The program's databases as it makes them where there are none, by the names of their files. */
export type Databases = Readonly<Record<string, Uint8Array>>

/** The program at this path, as it was when it was probed. One whose version nobody dared to ask is not run outside of walls for this either. */
export interface Program {
  readonly program?: string | undefined
  readonly version?: string | undefined
}

const limitMs = 10_000
const known = new Map<string, Databases | undefined>()
const keyOf = ({ program, version }: Program) => `${program} ${version}`

/** Empty databases for a conversation that begins, if they were made before. Making them takes the program as long as all the rest of its start. */
export const emptyDatabases = (program: Program): Databases | undefined => known.get(keyOf(program))

/**
 * Has the program make its databases in an empty home, without a key and without a conversation, so that nothing of any agent is in them. Never throws: without
 * them the program makes its own.
 */
export async function makeDatabases(program: Program): Promise<void> {
  if (program.program === undefined || program.version === undefined || known.has(keyOf(program))) return
  if (known.size > 10) known.clear()
  known.set(keyOf(program), undefined)
  const home = await mkdtemp(join(tmpdir(), `pawl-codex${temporarySuffix()}-`)).catch(() => undefined)
  if (home === undefined) return
  try {
    known.set(keyOf(program), await madeIn(home, program.program))
  } catch {
    // What went wrong here goes wrong again, and is told, when the program is started for a run.
  } finally {
    await removeTree(home).catch(() => undefined)
  }
}

async function madeIn(home: string, program: string): Promise<Databases | undefined> {
  const folder = join(home, 'databases')
  await mkdir(folder)
  await writeFile(join(home, 'config.toml'), settings)
  const env = { PATH: systemPath, HOME: home, CODEX_HOME: home, CODEX_SQLITE_HOME: folder, TMPDIR: home, NO_COLOR: '1' }
  if (!(await ranWell({ file: program, args: ['app-server'], env, first: initialize }))) return undefined
  // What was written last is moved from the logs beside the databases into these.
  if (!(await ranWell({ file: process.execPath, args: ['--no-warnings', '--eval', gather, folder], env: {} }))) return undefined
  const names = (await readdir(folder)).filter((name) => name.endsWith('.sqlite'))
  if (names.length === 0) return undefined
  return Object.fromEntries(await Promise.all(names.map(async (name) => [name, await readFile(join(folder, name))])))
}

/** One that is told something is let go when it has answered. */
async function ranWell(command: { file: string; args: string[]; env: Record<string, string>; first?: string }): Promise<boolean> {
  const { file, args, env, first } = command
  const child = await start({ file, args, env, cwd: '/' })
  child.stderr.resume()
  child.stdout.on('error', () => {})
  const answered = first === undefined ? undefined : once(child.stdout, 'data')
  child.stdout.resume()
  try {
    if (first !== undefined) child.stdin.write(first)
    if (answered && !(await within(Promise.race([answered, child.exited.then(() => undefined)]), limitMs))) return false
    child.stdin.end()
    return (await within(child.exited, limitMs))?.code === 0
  } finally {
    signal(-child.pid, 'SIGKILL')
  }
}

const settings = `check_for_update_on_startup = false
cli_auth_credentials_store = "file"
[features]
plugins = false
apps = false
shell_snapshot = false
[analytics]
enabled = false
`

const initialize = `${JSON.stringify({ id: 1, method: 'initialize', params: { clientInfo: { name: 'pawl', title: 'Pawl', version: '1' } } })}\n`

const gather = `
const { DatabaseSync } = require('node:sqlite')
const folder = process.argv[1]
for (const name of require('node:fs').readdirSync(folder)) {
  if (!name.endsWith('.sqlite')) continue
  const database = new DatabaseSync(folder + '/' + name)
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  database.close()
}
`
