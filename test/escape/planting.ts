/** Plants what would run code later, behind the guard of a run, and looks at what is left in the workspace after it. Prints what came of it as JSON. */

import { execFileSync, spawn } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  lchownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { agentCodePaths } from '../../src/agents/index.ts'
import { hostPath, inPlace, sandboxPath } from '../../src/domain/base/path.ts'
import { newId } from '../../src/domain/id.ts'
import { builtinProfiles } from '../../src/domain/profile/builtin.ts'
import { commonCodePaths } from '../../src/domain/workspace/code-paths.ts'
import { guardWorkspace } from '../../src/engine/workspace/guard.ts'
import { createBubblewrap } from '../../src/sandbox/bubblewrap/sandbox.ts'
import { agentUser } from '../../src/sandbox/process/agent-user.ts'

export interface Planting {
  /** Planted files that are left where a program would obey them, by path. */
  readonly left: readonly string[]
  readonly quarantined: readonly string[]
  /** What a git that is run plainly afterwards started. */
  readonly ran: readonly string[]
  /** Paths that are new in the workspace and that nobody planted. */
  readonly stubs: readonly string[]
  readonly said: string
}

const [answer = '/dev/stdout'] = process.argv.slice(2)
const script = readFileSync(join(import.meta.dirname, 'attacks/plant.sh'), 'utf8')
const user = process.getuid?.() === 0 ? agentUser : undefined

async function plant(isGuarded: boolean): Promise<Planting> {
  const base = mkdtempSync('/var/tmp/pawl-planting-')
  chmodSync(base, 0o755)
  const [root, home] = [join(base, 'project'), join(base, 'store')]
  const put = (path: string, content = 'mine\n') => {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), content)
  }
  const git = (folder: string, ...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@example.com', '-c', 'init.defaultBranch=main', ...args], {
      cwd: folder,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: process.env.PATH, HOME: base, GIT_CONFIG_NOSYSTEM: '1' },
      ...(user ?? {}),
    })
  try {
    mkdirSync(join(home, 'sessions/own'), { recursive: true })
    for (const path of [
      'a/b/c/d/.mcp.json',
      'a/b/c/d/.claude/settings.json',
      'a/b/c/d/x',
      'readme',
      '.npmrc',
      '.claude/settings.json',
    ])
      put(path)
    linkSync(join(root, '.npmrc'), join(root, 'existing-hard'))
    give(base)
    for (const folder of [join(root, 'a/b/c/d'), root]) {
      git(folder, 'init', '-q')
      git(folder, 'commit', '-q', '--allow-empty', '-m', 'first')
    }
    give(base)
    const before = new Set(readdirSync(root, { recursive: true }) as string[])
    const said = isGuarded ? await behindGuard(root, home) : { ...(await freely(root)), quarantined: [] }
    execFileSync('chmod', ['-R', 'u+rwX', root])
    const after = pathsIn(root)
    // Whoever looks at the repository afterwards, outside of all walls.
    for (const folder of [
      root,
      join(root, 'made'),
      join(root, 'pointer'),
      join(root, 'docs/store'),
      join(root, 'a/b/c/d'),
      join(root, 'e/f/g/h'),
    ])
      try {
        if (existsSync(folder)) git(folder, 'status')
      } catch {
        // A repository that is none any more starts nothing either.
      }
    const ran = pathsIn(root).filter((path) => path.endsWith('planted') && !after.includes(path))
    const reserved = [...commonCodePaths, ...agentCodePaths].filter(({ reserve }) => reserve).map(({ path }) => path)
    const stubs = reserved.filter((path) => !before.has(path) && existsSync(join(root, path)))
    return {
      left: after.filter((path) => isObeyed(path) && isPlanted(Buffer.from(join(root, path), 'latin1'))),
      ran,
      stubs,
      ...said,
    }
  } finally {
    execFileSync('chmod', ['-R', 'u+rwX', base])
    rmSync(base, { recursive: true, force: true })
  }
}

/** To the user whom the agent is, so that nothing but the guard protects it. */
function give(base: string): void {
  if (user)
    for (const path of ['.', ...(readdirSync(base, { recursive: true }) as string[])])
      lchownSync(join(base, path), user.uid, user.gid)
}

async function behindGuard(root: string, home: string): Promise<Pick<Planting, 'quarantined' | 'said'>> {
  const sandbox = createBubblewrap()
  const run = newId('run', Date.now())
  const guard = await guardWorkspace({
    run,
    home,
    workspace: { source: hostPath(root), path: sandboxPath(root), guardFile: undefined },
    paths: [...commonCodePaths, ...agentCodePaths],
    profile: builtinProfiles.guarded,
    enforced: true,
    user,
    records: join(home, 'runs', run),
  })
  const { child } = await sandbox.launch(
    { file: 'sh', args: ['-c', script], env: { GIT_CONFIG_GLOBAL: '/dev/null' } },
    {
      unit: sandbox.killUnit(run, 1),
      workspace: inPlace(root),
      home: hostPath(join(home, 'sessions/own')),
      hidden: [hostPath(home)],
      user,
      network: 'none',
      door: false,
      limits: { processes: 256, openFiles: 512 },
      masks: guard.masks,
      mounts: guard.mounts,
    },
  )
  child.stdin.end()
  const [said] = await Promise.all([text(child.stdout), text(child.stderr)])
  await child.stop({ graceMs: 0 })
  return { said, quarantined: (await guard.settle()).quarantined }
}

async function freely(root: string): Promise<Pick<Planting, 'said'>> {
  const child = spawn('sh', ['-c', script], {
    cwd: root,
    env: { PATH: process.env.PATH, FREE: 'yes' },
    stdio: ['ignore', 'pipe', 'ignore'],
    ...(user ?? {}),
  })
  return { said: await text(child.stdout) }
}

const obeyed =
  /(^|\/)(\.git|docs\/store|.git\/modules\/sub)\/(hooks\/|config|commondir)|(^|\/)\.(claude|vscode|codex|gemini|cursor|opencode|husky|devcontainer|idea|cargo)\/|(^|\/)(\.mcp\.json|\.envrc|\.npmrc|opencode\.json|\.devcontainer\.json|\.yarnrc\.yml|\.pnpmfile\.cjs)$|(^|\/)(\.claude|\.mcp\.json|\.git)$/
/** Byte for byte: not every name is text. */
const pathsIn = (root: string) =>
  execFileSync('find', ['.', '-mindepth', '1', '-printf', '%P\\0'], { cwd: root, encoding: 'latin1', maxBuffer: 1 << 26 })
    .split('\0')
    .filter(Boolean)
const isObeyed = (path: string) => obeyed.test(path)
function isPlanted(path: Buffer): boolean {
  const found = lstatSync(path)
  if (found.isSymbolicLink()) return readlinkSync(path).includes('planted')
  return found.isFile() && found.size < 1e6 && /planted/.test(readFileSync(path, 'latin1'))
}

writeFileSync(answer, JSON.stringify({ guarded: await plant(true), free: await plant(false) }))
