import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { lstat, mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { messageOf, PawlError } from '../../domain/error.ts'
import { removeTree } from '../../sandbox/files/remove-tree.ts'
import { temporarySuffix } from '../../sandbox/files/temporary.ts'
import type { Sandbox, Walls } from '../../sandbox/port.ts'
import type { AgentUser } from '../../sandbox/process/agent-user.ts'
import type { Child } from '../../sandbox/process/child.ts'
import { systemPath } from '../../sandbox/process/program.ts'

/** The two ways in which Pawl runs git on a tree that may be hostile. Nothing else in Pawl starts git. */

type QuietWalls = Omit<Walls, 'door'>

/** Runs git in a workspace, inside the walls. Undefined if git fails. */
export type WalledGit = (args: readonly string[]) => Promise<string | undefined>

/** Settings that may start a program, switched off; only the command line outranks a repository's own configuration. Whoever asks for a difference adds --no-ext-diff. */
const harmless = [
  'safe.directory=*',
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.sshCommand=false',
  'core.gitProxy=',
  'core.askPass=false',
  'core.pager=cat',
  'core.editor=false',
  'core.attributesFile=/dev/null',
  'core.excludesFile=/dev/null',
  'core.alternateRefsCommand=false',
  'credential.helper=',
  'gc.auto=0',
  'maintenance.auto=false',
  'protocol.allow=never',
  'submodule.recurse=false',
  'fetch.recurseSubmodules=false',
  'commit.gpgSign=false',
  'tag.gpgSign=false',
  'push.gpgSign=false',
  'gpg.program=false',
].flatMap((setting) => ['-c', setting])

const environment = {
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_ATTR_NOSYSTEM: '1',
  GIT_TERMINAL_PROMPT: '0',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_NO_LAZY_FETCH: '1',
  GIT_LITERAL_PATHSPECS: '1',
  // Unlike a setting, no setting of the repository outranks it. No protocol is called so.
  GIT_ALLOW_PROTOCOL: 'none',
  GIT_ASKPASS: 'false',
  SSH_ASKPASS: 'false',
  LC_ALL: 'C',
}

/**
 * Everything that compares contents belongs in here: filters, text conversions and merge drivers have names of their own, so no list of settings
 * switches them off. The walls have no masks: git must see what is there. Undefined if git fails.
 */
export async function gitInside(
  sandbox: Sandbox,
  walls: QuietWalls,
  path: string,
  args: readonly string[],
): Promise<string | undefined> {
  const command = { file: 'git', args: [...harmless, ...args], env: { PATH: path, ...environment } }
  const { child } = await sandbox.launch(command, { ...walls, masks: [], covered: [], door: false })
  child.stdin.end()
  child.stderr.resume()
  const timer = setTimeout(() => void child.stop({ graceMs: 0 }), 5_000)
  try {
    let text = ''
    child.stdout.setEncoding('utf8')
    for await (const chunk of child.stdout) if (text.length < 1_000_000) text += String(chunk)
    const exit = await child.exited
    return exit.code === 0 ? text : undefined
  } finally {
    clearTimeout(timer)
    await child.stop({ graceMs: 0 })
  }
}

/**
 * Everything that differs from a commit, files that git does not know yet included, as git prints it. The index and the objects that this takes are made in the home
 * inside the walls, so nothing of the repository is written. `base` is a name of ours.
 */
export async function differenceInside(
  sandbox: Sandbox,
  walls: QuietWalls,
  path: string,
  { base, to, mostBytes, signal }: { base: string; to: Writable; mostBytes: number; signal: AbortSignal },
): Promise<{ branch: string | undefined; why?: string }> {
  const branch = (await gitInside(sandbox, walls, path, ['symbolic-ref', '--quiet', '--short', 'HEAD']))?.trim()
  // Nothing that an agent wrote is in here, and the settings are arguments, which no shell reads.
  const script = `set -e
objects=$(git "$@" rev-parse --absolute-git-dir)/objects
mkdir -p "$HOME/objects"
export GIT_INDEX_FILE="$HOME/index" GIT_OBJECT_DIRECTORY="$HOME/objects" GIT_ALTERNATE_OBJECT_DIRECTORIES="$objects"
git "$@" read-tree ${base}
git "$@" add --all --ignore-errors . || true
git "$@" diff --cached --binary --no-ext-diff --no-textconv --no-color ${base}`
  const command = { file: '/bin/sh', args: ['-c', script, 'git', ...harmless], env: { PATH: path, ...environment } }
  const { child } = await sandbox.launch(command, { ...walls, masks: [], covered: [], door: false })
  child.stdin.end()
  child.stderr.resume()
  let isLate = false
  const leave = () => void child.stop({ graceMs: 0 })
  const timer = setTimeout(() => {
    isLate = true
    leave()
  }, 60_000)
  signal.addEventListener('abort', leave)
  if (signal.aborted) leave()
  try {
    let bytes = 0
    for await (const chunk of child.stdout as AsyncIterable<Buffer>) {
      bytes += chunk.length
      if (bytes > mostBytes) return { branch, why: `The changes are more than ${mostBytes} bytes.` }
      if (!to.write(chunk)) await once(to, 'drain')
    }
    const { code } = await child.exited
    if (isLate) return { branch, why: 'Git took too long to tell the changes.' }
    return code === 0 ? { branch } : { branch, why: 'Git could not tell the changes.' }
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', leave)
    await child.stop({ graceMs: 0 })
  }
}

/**
 * Starts a script of ours that calls git, inside the walls; `"$@"` in it is what keeps git from starting anything. Nothing that an agent wrote may be in the script. Whoever
 * asks ends the child.
 */
export async function gitScript(
  sandbox: Sandbox,
  walls: QuietWalls,
  {
    path,
    script,
    env,
    settings = [],
  }: { path: string; script: string; env: Record<string, string>; settings?: readonly string[] },
): Promise<Child> {
  const args = ['-c', script, 'git', ...harmless, ...settings.flatMap((setting) => ['-c', setting])]
  const command = { file: '/bin/sh', args, env: { PATH: path, ...environment, ...env } }
  const { child } = await sandbox.launch(command, { ...walls, masks: [], covered: [], door: false })
  return child
}

/** What may be done outside of the walls: it compares no contents, so that no filter is asked. A checkout only in a clone, whose settings are ours. */
export type BareVerb = 'clone' | 'checkout' | 'fetch' | 'config'

export interface NeutralGit {
  /** Where it happens; `/` where that is no repository's business. */
  readonly folder: string
  readonly verb: BareVerb | IndexVerb | 'cat-file'
  readonly args: readonly string[]
  /** More of the environment, which git then takes for granted. */
  readonly env?: Readonly<Record<string, string>> | undefined
  /** A file of settings that a second git reads as well, which is started to read another folder. Only then may git speak to anything at all, and to nothing but the disk. */
  readonly settings?: string | undefined
  readonly timeoutMs?: number
  readonly signal?: AbortSignal | undefined
  /** Reads the settings of this user instead of none: only together with the folder `/`. */
  readonly userHome?: string | undefined
  readonly input?: Buffer | undefined
  /** Puts the whole command behind walls of its own. */
  readonly confine?: ((command: readonly string[]) => Promise<readonly string[]>) | undefined
}

/** Answers what git printed, and throws a `PawlError` with its complaint if it fails. */
export async function neutralGit(run: NeutralGit): Promise<string> {
  const settings = run.settings !== undefined ? [...harmless, '-c', 'protocol.file.allow=always'] : harmless
  const env: Record<string, string> = { PATH: systemPath, ...environment, ...run.env }
  if (run.userHome !== undefined) {
    delete env.GIT_CONFIG_GLOBAL
    env.HOME = run.userHome
  }
  if (run.settings !== undefined) {
    env.GIT_CONFIG_GLOBAL = run.settings
    env.GIT_ALLOW_PROTOCOL = 'file'
  }
  const command = ['git', ...settings, run.verb, ...run.args]
  const [file, ...args] = run.confine ? await run.confine(command) : command
  return new Promise((done, fail) => {
    const child = execFile(
      file!,
      args,
      {
        cwd: run.folder,
        env,
        encoding: 'utf8',
        timeout: run.timeoutMs ?? 30_000,
        killSignal: 'SIGKILL',
        maxBuffer: 256_000_000,
        ...(run.signal ? { signal: run.signal } : {}),
      },
      (error, stdout, stderr) => {
        if (!error) return done(stdout)
        const why = stderr.trim().slice(0, 500) || messageOf(error)
        fail(new PawlError('unavailable', `git ${run.verb} failed in ${run.folder}: ${why}`, { cause: error }))
      },
    )
    // One that ends early does not read it all, and tells why.
    child.stdin?.on('error', () => undefined)
    child.stdin?.end(run.input)
  })
}

/** Git compares contents also when it writes an index, for those files that are as young as the index itself. */
export type IndexVerb = 'update-index'

/**
 * Has git change an index in a repository of ours that is empty but for that index: not a setting, not a path and not a file of the other one is
 * seen by it. Answers the index as it is then.
 */
export async function indexGit(
  index: { readonly bytes: Buffer | undefined; readonly isSha256: boolean },
  args: readonly string[],
  input: Buffer,
): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), `pawl-index${temporarySuffix()}-`))
  try {
    makeBareGit(join(folder, 'git'), index.isSha256)
    await mkdir(join(folder, 'tree'))
    if (index.bytes) await writeFile(join(folder, 'git/index'), index.bytes)
    const env = { GIT_DIR: join(folder, 'git'), GIT_WORK_TREE: join(folder, 'tree') }
    await neutralGit({ folder: env.GIT_WORK_TREE, verb: 'update-index', args, env, input, timeoutMs: 60_000 })
    return await readFile(join(folder, 'git/index'))
  } finally {
    await removeTree(folder)
  }
}

/** A repository that holds nothing, with settings of ours alone. */
export function makeBareGit(folder: string, isSha256: boolean): void {
  for (const name of ['objects', 'refs']) mkdirSync(join(folder, name), { recursive: true, mode: 0o700 })
  const format = isSha256 ? '1\n[extensions]\n\tobjectFormat = sha256' : '0'
  writeFileSync(join(folder, 'HEAD'), 'ref: refs/heads/none\n')
  writeFileSync(join(folder, 'config'), `[core]\n\trepositoryFormatVersion = ${format}\n`)
}

/** A repository of ours that holds nothing (`makeBareGit`), and a folder of objects. Where else objects are is told by its `info/alternates`, which is ours too. */
export interface ObjectStore {
  readonly gitdir: string
  readonly objects: string
}

const storeEnvironment = ({ gitdir, objects }: ObjectStore) => ({
  GIT_DIR: gitdir,
  GIT_OBJECT_DIRECTORY: objects,
  GIT_NO_REPLACE_OBJECTS: '1',
})

/** What kind of object each of these is; those that are missing are left out. */
export async function typesOf(store: ObjectStore, ids: readonly string[]): Promise<Map<string, string>> {
  const out = await neutralGit({
    folder: store.gitdir,
    verb: 'cat-file',
    args: ['--batch-check=%(objectname) %(objecttype)'],
    env: storeEnvironment(store),
    input: Buffer.from(ids.map((id) => `${id}\n`).join('')),
    timeoutMs: 600_000,
  })
  const lines = out.split('\n').map((line) => line.split(' '))
  return new Map(lines.flatMap(([id, type]) => (id && type && type !== 'missing' ? [[id, type]] : [])))
}

/**
 * Copies what `tips` need and the alternates of `from` do not have, as one pack into `to`. Git computes the name of each object anew there, refuses those that would harm
 * a work tree, and those that need something which neither `to` nor its alternates have. Answers the pack's name; undefined if there was nothing to copy.
 */
export async function copyObjects(
  from: ObjectStore,
  to: ObjectStore,
  { tips, known, isPartial }: { tips: readonly string[]; known: readonly string[]; isPartial: boolean },
): Promise<string | undefined> {
  const begin = (store: ObjectStore, args: readonly string[]) =>
    spawn('git', [...harmless, ...args], {
      cwd: store.gitdir,
      env: { PATH: systemPath, ...environment, ...storeEnvironment(store) },
      stdio: ['pipe', 'pipe', 'pipe'],
      timeout: 600_000,
      killSignal: 'SIGKILL',
    })
  const missing = isPartial ? ['--missing=allow-any'] : []
  const reader = begin(from, ['pack-objects', '--revs', '--local', '--stdout', '-q', '--delta-base-offset', ...missing])
  const writer = begin(to, ['index-pack', '--stdin', isPartial ? '--fsck-objects' : '--strict'])
  const complaints = [reader, writer].map((child) => lastWords(child.stderr))
  const answer = text(writer.stdout)
  reader.stdin.on('error', () => undefined)
  reader.stdin.end(`${tips.join('\n')}\n--not\n${known.join('\n')}\n`)
  const codes = [reader, writer].map((child) => once(child, 'close').then(([code]) => code as number | null))
  // One that ends early breaks the pipe; why it did is told by itself.
  await pipeline(reader.stdout, writer.stdin).catch(() => undefined)
  const ended = await Promise.all(codes)
  // One that fails breaks the pipe of the other, which then has nothing to say.
  const why = complaints.map((complaint) => complaint()).filter((said) => said !== '')
  if (ended.some((code) => code !== 0))
    throw new PawlError('invalid', `git refuses the objects: ${why.join(' ') || 'it was ended'}`)
  return /^pack\t([0-9a-f]{40,64})$/m.exec(await answer)?.[1]
}

function lastWords(stream: Readable): () => string {
  let said = ''
  stream.setEncoding('utf8').on('data', (part: string) => {
    said = `${said}${part}`.slice(-2_000)
  })
  return () => said.trim().split('\n').slice(-2).join(' ').slice(0, 300)
}

/** To whom a folder belongs: what we write there should go on to. */
export async function ownerOf(folder: string): Promise<AgentUser> {
  const { uid, gid } = await lstat(folder)
  return { uid, gid }
}

/**
 * The text of a `.gitconfig` for a session home: commits inside carry the user's own name, as far as git knows it, and git does not refuse a workspace
 * that belongs to another user. It is the weakest of git's settings, so a repository's own name wins.
 */
export async function sessionGitConfig(userHome: string, workspace: string): Promise<string> {
  const { name, email } = await whoCommits(userHome)
  const quote = (text: string) => `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`
  return [
    `[safe]\n\tdirectory = ${quote(workspace)}\n\tdirectory = ${quote(`${workspace}/*`)}`,
    `[user]\n\tname = ${quote(name || 'Pawl agent')}\n\temail = ${quote(email || 'agent@pawl.invalid')}`,
    '[advice]\n\tdetachedHead = false\n',
  ].join('\n')
}

interface Committer {
  readonly name: string
  readonly email: string
}
/** Starting git twice costs more than all else before a run, and people rarely change their name. */
const believedMs = 60_000
const committers = new Map<string, { readonly askedAt: number; readonly committer: Promise<Committer> }>()

function whoCommits(userHome: string): Promise<Committer> {
  const known = committers.get(userHome)
  if (known && performance.now() - known.askedAt < believedMs) return known.committer
  const ask = (key: string) =>
    neutralGit({ folder: '/', verb: 'config', args: ['--global', '--includes', '--get', key], userHome, timeoutMs: 5_000 }).then(
      (value) => value.trim(),
      () => '',
    )
  const committer = Promise.all([ask('user.name'), ask('user.email')]).then(([name, email]) => ({ name, email }))
  committers.set(userHome, { askedAt: performance.now(), committer })
  return committer
}
