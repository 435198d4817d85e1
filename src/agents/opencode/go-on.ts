import { posix } from 'node:path'
import type { Command, LaunchSpec } from '../port.ts'
import type { OpencodeOptions } from './options.ts'
import { databaseFile, importFile } from './session-files.ts'

/**
 * What must be done inside the walls before the program goes on with a conversation. A conversation is bound to the folder in which it was begun, and the program would work
 * there whatever it is told. The database was written by an agent, so nobody but the agent's own user opens it.
 */
export function goingOn(
  spec: LaunchSpec<OpencodeOptions>,
  program: string,
  args: readonly string[],
): Pick<Command, 'file' | 'args' | 'programs'> {
  const { home, workspace, resume = '' } = spec
  const places = [process.execPath, posix.join(home, databaseFile), workspace, posix.join(home, importFile(resume))]
  const programs = posix.isAbsolute(program) ? [program] : []
  return { programs, file: '/bin/sh', args: ['-c', script, 'opencode', ...places, program, ...args] }
}

const moveSource = `
const { existsSync } = require('node:fs')
const [file, folder] = process.argv.slice(1)
if (existsSync(file)) {
  process.removeAllListeners('warning')
  const { DatabaseSync } = require('node:sqlite')
  const database = new DatabaseSync(file, { timeout: 5000 })
  database.prepare('update session set directory = ?, path = ? where directory <> ?').run(folder, folder.slice(1), folder)
  database.close()
}`

/** Whatever fails here, the program says itself what it cannot go on with. */
const script = `
node=$1 database=$2 folder=$3 conversation=$4
shift 4
if [ -f "$conversation" ]; then "$1" import "$conversation" >/dev/null && rm -f "$conversation"; fi
"$node" --no-warnings -e '${moveSource.replaceAll("'", "'\\''")}' "$database" "$folder" >&2
exec "$@"`
