import type { Stats } from 'node:fs'
import { lstat, readdir, readlink, realpath } from 'node:fs/promises'
import {
  hostPath,
  isInside,
  pathIn,
  relativeTo,
  type SandboxPath,
  type Shown,
  sameInside,
  sandboxPath,
  stepsOf,
  workspacePath,
} from '../../domain/base/path.ts'
import { denied, invalid, unavailable } from '../../domain/error.ts'
import {
  type DirectoryHandle,
  inFolder,
  isAbsence,
  isThere,
  openDirectory,
  openIn,
} from '../../sandbox/files/directory-handle.ts'
import { type Marked, type Mask, markOf } from '../../sandbox/port.ts'
import { compileRules, defaultPathRules, type PathRules } from './path-rules.ts'
import { readPathText } from './path-text.ts'
import { changedMeanwhile, noRight, readOnly, told } from './refusals.ts'

/** A folder that a run may use: what lies at `source` is known to the agent and its user as `path`. */
export interface Root extends Shown {
  readonly mode: 'ro' | 'rw'
  /** What it was when it was looked at, if somebody could put something else in its place: nothing else is opened. */
  readonly mark?: Marked
}

export interface FilesOptions {
  /** The workspace first: relative paths begin there. */
  readonly roots: readonly [Root, ...Root[]]
  /** Whom the run works as, when we are root: we read nothing that this user may not, and what we write is theirs. */
  readonly user?: { readonly uid: number; readonly gid: number } | undefined
  readonly rules?: PathRules | undefined
  /** Of the walls: we do not stand inside them, so they are kept here too. */
  readonly masks?: readonly Mask[] | undefined
}

/** Where a path really leads: no part of it is a link. Opened again it is followed strictly, so that what was decided about it holds. */
export interface Place {
  readonly path: SandboxPath
  readonly root: Root
  /** Below the root. */
  readonly names: readonly string[]
  readonly exists: boolean
}

export interface Files {
  readonly workspace: SandboxPath
  readonly roots: readonly Root[]
  readonly user: FilesOptions['user']
  /** Finds what a path of the agent means. Refuses what lies outside of the roots or is left alone. Links are followed as long as they stay inside. */
  find(text: string): Promise<Place>
  /** The place of an entry of a folder, if it may be known. */
  entry(folder: Place, name: string): Place | undefined
  /** Names a place that may be changed; throws if it may not. */
  mustBeWritable(place: Place): void
  /** Opens a folder, one real folder after the other. `make` decides what becomes of a missing one. */
  enter(place: Place, make?: (parent: DirectoryHandle, name: string) => Promise<void>): Promise<DirectoryHandle>
  isPassedOver(name: string): boolean
  may(stats: Pick<Stats, 'uid' | 'gid' | 'mode'>, right: Right): boolean
  /** Replaces where things lie by what they are called. */
  shown(text: string): string
}

export type Right = 'read' | 'write' | 'search'
const bits: Record<Right, number> = { read: 4, write: 2, search: 1 }
const mostLinks = 40

/** Rejects if a root is not there: without them no path can be judged, and no tool may exist. */
export async function createFiles(options: FilesOptions): Promise<Files> {
  const { user, masks = [] } = options
  const rules = compileRules(options.rules ?? defaultPathRules)
  const roots = await Promise.all(options.roots.map(rootOf))
  const workspace = roots[0]!.path
  const deepestFirst = roots.toSorted((a, b) => b.path.length - a.path.length)
  const bySource = roots
    .filter(({ source, path }) => sameInside(source) !== path)
    .toSorted((a, b) => b.source.length - a.source.length)
  const rootAt = (path: SandboxPath) => deepestFirst.find((root) => isInside(root.path, path))
  const isHidden = (path: SandboxPath) => masks.some((mask) => mask.kind !== 'readonly' && isInside(mask.path, path))

  const may: Files['may'] = ({ uid, gid, mode }, right) =>
    !user || ((uid === user.uid ? mode >> 6 : gid === user.gid ? mode >> 3 : mode) & bits[right]) !== 0

  const placeAt = (path: SandboxPath, exists: boolean): Place | undefined => {
    const root = rootAt(path)
    return root && { path, root, names: stepsOf(relativeTo(root.path, path)!), exists }
  }

  function refuseBlocked(path: SandboxPath): void {
    const place = placeAt(path, true)
    if (place && rules.isBlocked(place.names, path))
      throw denied(`${path} is kept from these tools: it is of a kind that holds secrets or is managed by a program of its own.`)
  }

  async function enter(place: Place, make?: (parent: DirectoryHandle, name: string) => Promise<void>): Promise<DirectoryHandle> {
    let folder = await openDirectory(place.root.source)
    if (!folder) throw unavailable(`${place.root.path} is no longer there.`)
    try {
      if (!(await isSame(place.root, folder))) throw unavailable(`${place.root.path} is no longer there.`)
      await mustSearch(folder)
      for (const name of place.names) {
        const parent: DirectoryHandle = folder
        let next = await openIn(parent, name)
        if (!next && make) {
          await make(parent, name)
          next = await openIn(parent, name)
        }
        if (!next) throw await whyNot(parent, name)
        folder = next
        await parent.close()
        await mustSearch(folder)
      }
      return folder
    } catch (error) {
      await folder.close()
      throw told(error, place.path)
    }

    async function mustSearch(one: DirectoryHandle): Promise<void> {
      if (user && !may(await one.stat(), 'search')) throw noRight(place.path)
    }
    async function whyNot(parent: DirectoryHandle, name: string) {
      const stats = await lstat(parent.at(name))
      return stats.isFile()
        ? invalid(`${place.path}: ${JSON.stringify(name)} is a file, not a folder.`)
        : changedMeanwhile(place.path)
    }
  }

  /** The entry as it is named on disk, and where it leads if it is a link. */
  async function look(place: Place): Promise<{ name: string; target?: string } | undefined> {
    const name = place.names.at(-1)!
    const parent = { ...place, names: place.names.slice(0, -1) }
    const folder = await enter(parent).catch((error: unknown) => {
      if (['not_found', 'invalid', 'conflict'].includes((error as { code?: string }).code ?? '')) return undefined
      throw error
    })
    if (!folder) return undefined
    try {
      const real = isThere(folder, name) ? name : await otherForm(folder, name)
      if (real === undefined) return undefined
      const isLink = (await lstat(folder.at(real))).isSymbolicLink()
      return isLink ? { name: real, target: await readlink(folder.at(real)) } : { name: real }
    } catch (error) {
      if (isAbsence(error)) throw changedMeanwhile(place.path)
      throw told(error, place.path)
    } finally {
      await folder.close()
    }
  }

  return {
    workspace,
    roots,
    user,
    may,
    enter,
    isPassedOver: rules.isPassedOver,
    async find(text) {
      const written = readPathText(text)
      const ahead = namesOf(written.startsWith('/') ? written : `${workspace}/${written}`)
      let at: string[] = []
      let links = 0
      let exists = true
      for (let name = ahead.shift(); name !== undefined; name = ahead.shift()) {
        if (name === '.') continue
        if (name === '..') {
          if (!exists) throw outside(text, roots)
          at.pop()
          continue
        }
        const path = sandboxPath(`/${[...at, name].join('/')}`)
        const place = placeAt(path, true)
        refuseBlocked(path)
        const found = place && place.names.length > 0 && exists ? await look(place) : { name }
        if (!found) exists = false
        if (found?.target === undefined) {
          at.push(found?.name ?? name)
          continue
        }
        if (++links > mostLinks) throw invalid(`${path} is behind too many links.`)
        const target = readPathText(found.target)
        if (target.startsWith('/')) at = []
        ahead.unshift(...namesOf(target))
      }
      const path = sandboxPath(`/${at.join('/')}`)
      const place = placeAt(path, exists)
      if (!place) throw outside(text, roots)
      refuseBlocked(path)
      if (isHidden(path)) throw denied(`${path} is hidden from this run.`)
      return place
    },
    entry(folder, name) {
      const path = pathIn(folder.path, workspacePath(name))
      const place = placeAt(path, true)
      return place && !rules.isBlocked(place.names, path) && !isHidden(path) ? place : undefined
    },
    mustBeWritable({ path, root }) {
      const isHeld = masks.some((mask) => isInside(mask.path, path))
      if (root.mode === 'ro' || isHeld || rules.isReadonly(path)) throw readOnly(path)
    },
    shown: (text) => bySource.reduce((all, { source, path }) => all.replaceAll(source, path), text),
  }
}

const isSame = async ({ mark }: Root, folder: DirectoryHandle) => mark === undefined || markOf(await folder.stat()) === mark

async function rootOf(root: Root): Promise<Root> {
  const { source, path, mode, mark } = root
  if (mark !== undefined) {
    // Its path was a real one then: whoever works around it may have put a link there since.
    if (await inFolder(source, (folder) => isSame(root, folder))) return root
    throw unavailable(`The folder ${path} of this run was exchanged for something else, so its tools cannot be offered.`)
  }
  const real = await realpath(source).then(hostPath, (error: unknown) => {
    throw unavailable(`The folder ${path} of this run is not there, so its tools cannot be offered.`, error)
  })
  return { source: real, path, mode }
}

const namesOf = (path: string) => path.split('/').filter((name) => name !== '')

const outside = (text: string, roots: readonly Root[]) =>
  denied(
    `${JSON.stringify(text.slice(0, 200))} lies outside of what this run may use: ${roots.map(({ path }) => path).join(', ')}.`,
  )

/** Some systems write names with their accents apart; to whoever reads them they are the same. */
async function otherForm(folder: DirectoryHandle, name: string): Promise<string | undefined> {
  // Plain ASCII has one form only.
  if (Buffer.byteLength(name) === name.length) return undefined
  return (await readdir(folder.at('.'))).find((other) => other.normalize('NFC') === name)
}
