import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { bundle } from '../../../test/bundle.ts'

const root = join(import.meta.dirname, '../..')
const { pawl: program } = await bundle()

export interface CommandEnd {
  readonly out: string
  readonly err: string
  readonly code: number | null
}

/** One command as a user types it, to its end: as it is packed, which starts in half the time that the sources take. */
export function runCommand(home: string, args: readonly string[], options: { cwd?: string; input?: string } = {}): CommandEnd {
  const { PATH, HOME, NODE_COMPILE_CACHE } = process.env
  const { stdout, stderr, status } = spawnSync(process.execPath, [program, ...args], {
    cwd: options.cwd ?? root,
    input: options.input ?? '',
    encoding: 'utf8',
    env: { PATH, HOME, NODE_COMPILE_CACHE, PAWL_HOME: home, NO_COLOR: '1' },
  })
  return { out: stdout, err: stderr, code: status }
}
