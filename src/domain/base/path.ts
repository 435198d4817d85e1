import { invalid } from '../error.ts'

declare const world: unique symbol

/** A path on this machine, as Pawl opens it: absolute, without `.`, `..` or a slash at the end. */
export type HostPath = string & { readonly [world]: 'host' }
/** A path as the agent sees it, in its sandbox. The same text may name something else on the host. */
export type SandboxPath = string & { readonly [world]: 'sandbox' }
/** A path below the top of a workspace, whichever world that is seen from: relative, without `.` or `..`. The top itself is `.`. */
export type WorkspacePath = string & { readonly [world]: 'workspace' }

type AbsolutePath = HostPath | SandboxPath
type AnyPath = AbsolutePath | WorkspacePath

/** One folder in both worlds: what lies at `source` on the host is seen at `path` inside. */
export interface Shown {
  readonly source: HostPath
  readonly path: SandboxPath
}

/** Takes an absolute path of this machine. Throws for any other. Links are not followed: two paths of one folder are compared by `realpath`, before. */
export const hostPath = (text: string): HostPath => absolute(text) as HostPath

/** Takes an absolute path as the agent sees it. Throws for any other. */
export const sandboxPath = (text: string): SandboxPath => absolute(text) as SandboxPath

/** Takes a path relative to the top of a workspace. Throws for one that is absolute or leads out. */
export function workspacePath(text: string): WorkspacePath {
  const path = workspacePathIfAny(text)
  if (path === undefined) throw invalid(`${JSON.stringify(text)} is not a path below a workspace.`)
  return path
}

/** The same for what an agent or its git wrote; undefined where `workspacePath` throws. */
export function workspacePathIfAny(text: string): WorkspacePath | undefined {
  if (text === '' || text.startsWith('/')) return undefined
  const names: string[] = []
  for (const name of text.split('/')) {
    if (name === '..') {
      if (names.pop() === undefined) return undefined
    } else if (name !== '' && name !== '.') names.push(name)
  }
  return (names.join('/') || '.') as WorkspacePath
}

/** Where a folder is seen that the sandbox shows at its own path, such as the home of a session. */
export const sameInside = (path: HostPath): SandboxPath => path as string as SandboxPath

/** A folder of this machine that the sandbox shows at its own path. */
export function inPlace(folder: string): Shown {
  const source = hostPath(folder)
  return { source, path: sameInside(source) }
}

/** Is the path the folder itself, or below it? Both are of the same world, and of no other: where the agent sees a thing says nothing of where it lies. */
export const isInside = <Path extends AnyPath>(folder: Path, path: NoInfer<Path>): boolean =>
  (path as string) === folder || isBelow(folder, path)

/** Is the path below the folder, and not the folder itself? */
export function isBelow<Path extends AnyPath>(folder: Path, path: NoInfer<Path>): boolean {
  if (folder === '.') return path !== '.'
  return path.length > folder.length && path.startsWith(folder) && (folder === '/' || path[folder.length] === '/')
}

/** The path as seen from the folder; undefined if it is not inside. */
export function relativeTo<Path extends AnyPath>(folder: Path, path: NoInfer<Path>): WorkspacePath | undefined {
  if ((path as string) === folder) return '.' as WorkspacePath
  if (!isBelow(folder, path)) return undefined
  return path.slice(folder === '/' ? 1 : folder === '.' ? 0 : folder.length + 1) as WorkspacePath
}

/** The names on the way from the top to a path, and its own last; none for the top itself. */
export const stepsOf = (path: WorkspacePath): readonly string[] => (path === '.' ? [] : path.split('/'))

/** The place of what is below a folder. */
export function pathIn<Path extends AbsolutePath>(folder: Path, path: WorkspacePath): Path {
  if (path === '.') return folder
  return `${folder === '/' ? '' : folder}/${path}` as Path
}

/** The folder that holds a path; the root holds itself. */
export const parentOf = <Path extends AbsolutePath>(path: Path): Path => (path.slice(0, path.lastIndexOf('/')) || '/') as Path

/** Where the agent sees what lies on the host; undefined if this folder does not show it. */
export function seenAt({ source, path }: Shown, host: HostPath): SandboxPath | undefined {
  const below = relativeTo(source, host)
  return below && pathIn(path, below)
}

/** Where on the host lies what the agent sees; undefined if it is not in this folder. */
export function liesAt({ source, path }: Shown, inside: SandboxPath): HostPath | undefined {
  const below = relativeTo(path, inside)
  return below && pathIn(source, below)
}

/** Is the text a path below some folder as it is: relative, and nothing in it leads up, nowhere, or to the folder itself? */
export const isPlainBelow = (text: string): boolean =>
  !text.includes('\0') && text.split('/').every((name) => name !== '' && name !== '.' && name !== '..')

/** Resolves `.`, `..` and repeated slashes of an absolute path, as if there were no links. */
export function withoutDots(path: string): string {
  const names: string[] = []
  for (const name of path.split('/')) {
    if (name === '..') names.pop()
    else if (name !== '' && name !== '.') names.push(name)
  }
  return `/${names.join('/')}`
}

function absolute(text: string): string {
  if (!text.startsWith('/')) throw invalid(`${JSON.stringify(text)} is not an absolute path.`)
  return isResolved.test(text) ? text : withoutDots(text)
}
const isResolved = /^(?:\/|(?:\/(?!\.{0,2}(?:\/|$))[^/]*)+)$/
