import { execFile, execFileSync } from 'node:child_process'
import { lstatSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { inPlace, sandboxPath } from '../../domain/base/path.ts'
import { type CodePath, commonCodePaths } from '../../domain/workspace/code-paths.ts'
import { pinnedBy } from '../../sandbox/bubblewrap/masks.ts'
import { type Guard, type GuardOptions, guardWorkspace } from './guard.ts'

/** A made-up agent program's own paths stand for those that adapters declare. */
export const testPaths: readonly CodePath[] = [
  ...commonCodePaths,
  { path: '.agent', treatment: 'hidden', runs: 'hooks', reserve: true },
  { path: '.tools.json', treatment: 'hidden', runs: 'servers', reserve: true },
  { path: 'RULES.md', treatment: 'text', runs: 'instructions' },
]

export async function put(root: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), text)
  }
}

const identity = {
  GIT_AUTHOR_NAME: 'A',
  GIT_AUTHOR_EMAIL: 'a@example.com',
  GIT_COMMITTER_NAME: 'A',
  GIT_COMMITTER_EMAIL: 'a@example.com',
}
const gitEnv = { PATH: process.env.PATH, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1', ...identity }

/** The user's own git, with all that the repository is configured to. */
export const git = (root: string, ...args: string[]) =>
  execFileSync('git', ['-c', 'safe.directory=*', ...args], {
    cwd: root,
    env: gitEnv,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  })

export async function repository(root: string, files: Readonly<Record<string, string>>): Promise<void> {
  await mkdir(root, { recursive: true })
  git(root, 'init', '-q', '-b', 'main')
  await put(root, files)
  git(root, 'add', '-A')
  git(root, 'commit', '-q', '-m', 'first')
}

export const guard = (home: string, root: string, over: Partial<GuardOptions> = {}): Promise<Guard> =>
  guardWorkspace({
    run: 'run_1',
    session: 's_1',
    home,
    workspace: inPlace(root),
    paths: testPaths,
    profile: { instructions: true, trusted: [] },
    enforced: true,
    user: undefined,
    records: join(home, 'runs/run_1'),
    ...over,
  })

/** Runs a shell command behind the masks of a guard, laid as the walls lay them: the folders above a mask cannot be moved. */
export async function inside(guarded: Guard, root: string, script: string): Promise<{ code: number; out: string }> {
  const empty = join(tmpdir(), 'pawl-empty-file')
  await writeFile(empty, '')
  const over = guarded.masks.flatMap((mask) => {
    if (mask.kind === 'readonly') return ['--ro-bind', mask.path, mask.path]
    if (mask.kind === 'instead') return [mask.writable ? '--bind' : '--ro-bind', mask.source, mask.path]
    return lstatSync(mask.path).isDirectory()
      ? ['--tmpfs', mask.path, '--remount-ro', mask.path]
      : ['--ro-bind', empty, mask.path]
  })
  const mounts = guarded.mounts.flatMap(({ source, path, mode }) => [mode === 'ro' ? '--ro-bind' : '--bind', source, path])
  const pinned = pinnedBy(guarded.masks, [sandboxPath(root)])
    .toSorted()
    .flatMap((path) => ['--bind', path, path])
  const args = ['--dev-bind', '/', '/', ...mounts, ...pinned, ...over, '--chdir', root, '--', 'sh', '-c', script]
  try {
    const { stdout, stderr } = await promisify(execFile)('bwrap', args, { env: gitEnv })
    return { code: 0, out: stdout + stderr }
  } catch (error) {
    const failed = error as { code: number; stdout: string; stderr: string }
    return { code: failed.code, out: failed.stdout + failed.stderr }
  }
}
