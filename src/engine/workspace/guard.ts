import { createHash } from 'node:crypto'
import { existsSync, realpathSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { type HostPath, hostPath, isBelow, isInside, type WorkspacePath, workspacePath } from '../../domain/base/path.ts'
import { PawlError } from '../../domain/error.ts'
import type { Profile } from '../../domain/profile/profile.ts'
import type { CodePath } from '../../domain/workspace/code-paths.ts'
import type { Mask, Walls } from '../../sandbox/port.ts'
import type { AgentUser } from '../../sandbox/process/agent-user.ts'
import { processIdentity } from '../../sandbox/process/identity.ts'
import { takingTurns } from '../base/turns.ts'
import { capture } from './capture.ts'
import { type Cover, coveredNote, coverWorkspace, listed } from './cover.ts'
import { type FoundAll, findCode } from './find-code.ts'
import { digestOf } from './find-planted.ts'
import { type Before, type GuardRecord, livingOthers, recordFile, underGuardLock, writeRecord } from './guard-record.ts'
import { type MaskPlan, type PlannedMask, planMasks } from './masks.ts'
import { gitsIn, noPrivateGits, type PrivateGits, preparePrivateGits } from './private-git/private-gits.ts'
import { placeAt } from './same-place.ts'
import { releaseRecord, type Settled, settleDead, settleRecord } from './settle-guard.ts'
import { dropParked, makeStubs, parkedFolder } from './stubs.ts'
import { isTrusted } from './trusted.ts'
import type { PreparedWorkspace } from './workspace.ts'

/** Keeps the code in a workspace, which is its configuration, out of the hands of the agent for one run. */
export interface Guard {
  readonly masks: readonly Mask[]
  /** What of the workspace lets somebody in somewhere: covered wherever it would be seen. */
  readonly covered: readonly HostPath[]
  /** To be mounted before the masks are laid. */
  readonly mounts: NonNullable<Walls['mounts']>
  /** Beside the workspace and its home, what the agent writes to. */
  readonly folders: readonly string[]
  /** Does the profile trust the repository with the configuration that it has now? */
  readonly isTrusted: boolean
  /** What the reader of the run should know before it starts. */
  readonly notes: readonly string[]
  /** Changes with everything that is covered: a program that stays for another run must want the same. */
  readonly likeness: string
  /**
   * Undoes what was done to the tree and moves out what was planted. To be called when the agent is dead, or frozen and to be kept; before anything of the workspace is
   * read or brought back. `keeps`: the program stays, so what was reserved is put aside instead of removed, and the next run of the session finds it covered as before.
   * Nobody's tree is to hold folders of ours while nothing runs.
   */
  settle(options?: { readonly keeps?: boolean }): Promise<Settled>
  /** The program that was to be kept is gone: removes what was put aside for it. */
  dropParked(): Promise<void>
  /** Undoes what was done to the tree, brings back what git did, and no more: the run is somebody else's now. */
  release(): Promise<void>
  /** Removes the agent's git directories. To be called last, if no program is kept that has them mounted. */
  drop(): Promise<void>
}

export interface GuardOptions {
  readonly run: string
  /** Whose program may stay for another run; the run itself if left out. */
  readonly session?: string | undefined
  readonly home: string
  readonly workspace: Pick<PreparedWorkspace, 'source' | 'path' | 'guardFile' | 'mark'> & Partial<Pick<PreparedWorkspace, 'mode'>>
  readonly paths: readonly CodePath[]
  /** Those that the program of this very run obeys; all of them if it is not known. */
  readonly own?: readonly CodePath[] | undefined
  readonly profile: Pick<Profile, 'instructions' | 'trusted'>
  /** The sources of mounts: credentials that one of them names are meant to be seen. */
  readonly given?: readonly HostPath[] | undefined
  /** Do walls hold? */
  readonly enforced: boolean
  readonly user: AgentUser | undefined
  /** A folder of this run's own, outside of the agent's reach, for what is shown instead of something. */
  readonly records: string
}

export async function guardWorkspace(options: GuardOptions): Promise<Guard> {
  const { home } = options
  const root = hostPath(realpathSync.native(options.workspace.source))
  const { source, path, mark } = options.workspace
  // Whoever works around it may have put a link, or another folder, in its place since it was looked at.
  if (mark !== undefined && (root !== source || (await placeAt(root)) !== mark))
    throw new PawlError('invalid', `The workspace ${path} was exchanged while the run began; try again.`)
  return underGuardLock(home, root, () => guardRoot(options, root))
}

/** To be called by whoever has the place to himself. */
async function guardRoot(options: GuardOptions, root: HostPath): Promise<Guard> {
  const { run, home, paths, profile, enforced } = options
  const { path } = options.workspace
  // What a dead run covered would look like the user's own, and be taken away later, when somebody finds it.
  const left = await settleDead(home, root, paths)
  const workspace = { source: root, path }
  const found = await findCode(root, { paths, without: home, seenAs: workspace.path })
  const cover = enforced ? coverWorkspace(workspace, found, options.given ?? []) : nothingToCover
  const trusts = enforced && (await isTrusted(workspace, found, profile.trusted))
  const covers = enforced && !trusts
  const isOurs = isBelow(realHome(home), root)
  // Where nobody else works while the run lasts, what programs of others would obey is moved out in time; only the agent's own program must not see it appear.
  const reserved = isOurs ? (options.own ?? paths).filter(({ treatment }) => treatment === 'hidden') : paths
  const covered: readonly WorkspacePath[] = enforced ? gitsIn(found) : []
  const outside = outsideOf(found, covered)
  const masked = covers
    ? await planMasks({ workspace, found: outside, settings: found, reserved, instructions: profile.instructions })
    : nothingCovered
  const plan = { ...masked, unseen: [...masked.unseen, ...cover.inWorkspace] }
  const isCopy = options.workspace.mode === 'copy'
  const gits = enforced
    ? await preparePrivateGits(
        {
          home,
          session: options.session ?? run,
          run,
          root,
          workspace: workspace.path,
          original: isCopy ? hostPath(workspace.path) : root,
          user: options.user,
          isShared: !isOurs || isCopy,
          isTrusted: trusts,
        },
        found,
        plan.unseen,
      )
    : noPrivateGits
  const file = options.workspace.guardFile ?? recordFile(home, root, run)
  const others = await livingOthers(home, root, file)
  const record: GuardRecord = {
    run,
    root,
    workspace: workspace.path,
    owner: processIdentity(),
    enforced,
    isSettled: false,
    // Made by another run in the same place, they cover something for us as well.
    stubs: [
      ...plan.stubs,
      ...gits.stubs,
      ...others.flatMap((other) => other.stubs).filter((path) => plan.held.has(path) || covered.some((git) => git === path)),
    ],
    git: [...gits.made],
    covered: [...covered],
    before: await picture(root, outside, plan.held),
    unseen: [...found.unseen],
    special: [...found.special],
    since: Date.now(),
  }
  const place = { file, home, paths }
  const parked = options.session === undefined ? undefined : parkedFolder(home, options.session)
  let settling: Promise<unknown> = Promise.resolve()
  const isUntouched = isOurs && record.stubs.length + record.git.length + record.before.length === 0
  await writeRecord(file, record, { durably: enforced && !isUntouched })
  try {
    await makeStubs(root, [...plan.stubs, ...gits.stubs], parked)
    return {
      masks: [...(await written(plan.masks, join(options.records, 'shown'))), ...gits.masks],
      covered: cover.paths,
      mounts: gits.mounts,
      folders: gits.folder === undefined ? [] : [gits.folder],
      isTrusted: trusts,
      notes: [
        ...left.flatMap(({ sentence }) => (sentence === undefined ? [] : [`An earlier run that was cut off: ${sentence}`])),
        ...gits.notes,
        ...notesOf(plan, found, enforced),
      ],
      likeness: likenessOf({ plan, gits, record, found, cover }),
      settle({ keeps } = {}) {
        const settled = underGuardLock(home, root, () => settleRecord(record, place, keeps ? parked : undefined))
        settling = settled.catch(() => undefined)
        return settled
      },
      async dropParked() {
        await settling
        if (parked !== undefined) await dropParked(parked)
      },
      release: () => underGuardLock(home, root, () => releaseRecord(record, place)),
      drop: gits.drop,
    }
  } catch (error) {
    // What cannot be undone now is undone by whoever finds the record; why there is no guard stays the answer.
    await settleRecord(record, place).catch(() => undefined)
    throw error
  }
}

/** Without what lies in a git directory that is covered as a whole. */
function outsideOf(found: FoundAll, covered: readonly WorkspacePath[]): FoundAll {
  const isOutside = (path: string) => !covered.some((git) => isInside(git, workspacePath(path)))
  return {
    ...found,
    code: found.code.filter(({ path }) => isOutside(path)),
    repositories: found.repositories.filter(isOutside),
  }
}

const nothingCovered: MaskPlan = { masks: [], stubs: [], held: new Set(), unseen: [], open: 0 }

const nothingToCover: Cover = { paths: [], inWorkspace: [] }

const notesOf = ({ open }: MaskPlan, { unseen, code }: FoundAll, enforced: boolean) => [
  ...secretsNote(
    code.flatMap(({ is, path }) => (is === 'secret' ? [path] : [])),
    enforced,
  ),
  ...(open > 0
    ? [`${open} files that are code to other programs could not be covered; they are looked at when the run ends.`]
    : []),
  ...(unseen.length > 0 ? [`Not looked into: ${some(unseen)}.`] : []),
]

/**
 * How every path of code is before the run. A folder that is covered cannot be changed, so it need not be kept, unless a file in it has a second name. A file
 * that is covered can: its owner may put a new one in its place, which uncovers it, and then nobody can tell who wrote what.
 */
async function picture(root: string, found: FoundAll, held: ReadonlySet<string>): Promise<Before[]> {
  const before: Before[] = []
  const turn = takingTurns()
  for (const code of found.code) {
    await turn()
    const { path, id } = code
    // What a key says is nobody's to keep a copy of; of other names with a dot it is enough that they were there.
    if (code.is === 'secret' || code.is === 'dot') {
      before.push({ path, id, held: code.is === 'secret' })
      continue
    }
    if (code.is === 'flagged' || code.is === 'text') {
      before.push({ path, id, held: held.has(path), ...given({ digest: await digestOf(root, code) }) })
      continue
    }
    const captured = await capture(root, path, { keep: true })
    if (!captured) continue
    const isHeld = held.has(path) && !captured.isShared
    const parts = isHeld && code.kind === 'directory' ? undefined : captured.parts && [...captured.parts]
    before.push({ path, id, held: isHeld, digest: captured.digest, ...given({ parts }) })
  }
  return before
}

/** Without what is undefined. */
const given = <T extends Record<string, unknown>>(fields: T) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as { [K in keyof T]?: NonNullable<T[K]> }

/** What is shown instead of something lies in files of ours, readable by the agent's user and writable by nobody. */
async function written(masks: readonly PlannedMask[], folder: string): Promise<Mask[]> {
  const shown: Mask[] = []
  for (const mask of masks) {
    if (mask.kind !== 'text') {
      shown.push(mask)
      continue
    }
    const source = hostPath(join(folder, `${shown.length}.${basename(mask.path)}`))
    await mkdir(folder, { recursive: true, mode: 0o755 })
    await writeFile(source, mask.text, { mode: 0o444 })
    shown.push({ kind: 'instead', path: mask.path, source })
  }
  return shown
}

/** What was only reserved counts by its name alone. */
function likenessOf({
  plan,
  gits,
  record: { stubs, workspace },
  found: { code },
  cover: { paths },
}: {
  plan: MaskPlan
  gits: PrivateGits
  record: GuardRecord
  found: FoundAll
  cover: Cover
}): string {
  const known = new Map(code.filter(({ path }) => plan.held.has(path)).map(({ path, id }) => [join(workspace, path), id]))
  const isStub = new Set(stubs.map((path) => join(workspace, path)))
  const covered = [
    ...plan.masks.map((mask) =>
      isStub.has(mask.path) ? [mask.path] : [mask.path, mask.kind === 'text' ? mask.text : mask.kind, known.get(mask.path)],
    ),
    // Another one is made as soon as the real one is not as it was.
    ...gits.masks.map((mask) => [mask.path, mask.kind, 'source' in mask ? mask.source : '']),
  ]
  return createHash('sha256')
    .update(JSON.stringify([covered.map((one) => JSON.stringify(one)).toSorted(), paths.toSorted()]))
    .digest('hex')
}

function secretsNote(secrets: readonly string[], enforced: boolean): string[] {
  if (secrets.length === 0) return []
  return [enforced ? coveredNote(secrets) : `Not sandboxed, so the agent can read keys and logins: ${listed(secrets)}.`]
}

const some = (paths: readonly string[]) => [...paths.slice(0, 10), ...(paths.length > 10 ? ['…'] : [])].join(', ')

/** Ours may lie behind a link of its user's, and is not made before it is needed. */
function realHome(home: string): HostPath {
  return hostPath(existsSync(home) ? realpathSync.native(home) : home)
}
