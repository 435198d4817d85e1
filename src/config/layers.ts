import { dirname } from 'node:path'
import { isObject, isObjectOrArray } from '../domain/base/object.ts'
import type { SettingsDocument } from './document.ts'
import { knownKeys } from './json-schema.ts'
import { placeServer } from './mcp-server-entry.ts'
import { placeProvider } from './models-entry.ts'
import { placeBase, placeUser } from './mount-entry.ts'
import { placeNotification } from './notification-entry.ts'
import { absolute } from './places.ts'
import { type Fault, faultsOf, formatPath, type Path, type Problem } from './problems.ts'
import type { WrittenMount } from './profile-entry.ts'
import { mountFault, placeProfile } from './profile-settings.ts'
import { placeSchedule } from './schedule-entry.ts'
import { agentShape, FileSettings } from './schema.ts'

export type LayerKind = 'builtin' | 'home' | 'project' | 'override'

/** Settings from one place. Later layers win. */
export interface Layer {
  readonly kind: LayerKind
  readonly settings: FileSettings
  readonly document?: SettingsDocument | undefined
  /** For `pawl config show`. */
  sourceOf(path: Path): string
}

export type AgentEntry = NonNullable<FileSettings['agents']>[string]

/** Settings of all layers in one, and for every path the layer that decided it. */
export interface Merged {
  readonly settings: FileSettings
  readonly origins: ReadonlyMap<string, Origin>
}

export interface Origin {
  readonly layer: Layer
  readonly path: Path
}

/** Checks one file's shape. Gives the good parts even when others are bad, so that all problems can be told at once. */
export function checkDocument(
  document: SettingsDocument,
  userHome: string | undefined,
): { settings: FileSettings; problems: Problem[] } {
  const problems: Problem[] = [...document.problems]
  let value: unknown = structuredClone(document.value)
  let parsed = FileSettings.safeParse(value)
  while (!parsed.success) {
    const faults = faultsOf(parsed.error.issues, value, (shown) => knownKeys(FileSettings, shown.slice(0, -1)))
    const before = [...problems]
    for (const fault of faults) {
      // What was cut out in an earlier round leaves its entry incomplete; that is no second problem.
      const isAftermath = before.some((known) => fault.path.every((step, index) => known.path[index] === step))
      if (!isAftermath) problems.push(locate(fault, fault.path, document))
      value = without(value, fault.path)
    }
    parsed = FileSettings.safeParse(value)
  }
  const settings = parsed.data
  for (const [name, entry] of Object.entries(settings.agents ?? {}))
    settings.agents![name] = gatherOptions(name, entry, { document, userHome, problems })
  const checkMount = (mount: WrittenMount, path: Path) => {
    const fault = mountFault(mount)
    const sentence: Fault['sentence'] = (where, shown) => `${formatPath(shown)} in ${where} ${fault}.`
    if (fault !== undefined) problems.push(locate({ path, sentence }, path, document))
  }
  for (const [name, entry] of Object.entries(settings.profiles ?? {})) {
    const placed = placeProfile(entry, dirname(document.file), userHome)
    settings.profiles![name] = placed
    for (const [index, mount] of (placed.mounts ?? []).entries()) checkMount(mount, ['profiles', name, 'mounts', index])
    for (const [index, path] of (placed.directories ?? []).entries())
      checkMount({ path, source: path }, ['profiles', name, 'directories', index])
  }
  for (const [name, entry] of Object.entries(settings.users ?? {})) {
    const placed = placeUser(entry, dirname(document.file), userHome)
    settings.users![name] = placed
    for (const [index, mount] of (placed.mounts ?? []).entries()) checkMount(mount, ['users', name, 'mounts', index])
  }
  for (const [name, entry] of Object.entries(settings.mounts ?? {})) {
    const placed = placeBase(entry, dirname(document.file), userHome)
    settings.mounts![name] = placed
    checkMount({ path: placed.path, source: placed.path }, ['mounts', name, 'path'])
  }
  for (const [name, entry] of Object.entries(settings.providers ?? {}))
    settings.providers![name] = placeProvider(entry, dirname(document.file), userHome)
  for (const [name, entry] of Object.entries(settings.mcpServers ?? {}))
    settings.mcpServers![name] = placeServer(entry, dirname(document.file), userHome)
  for (const [name, entry] of Object.entries(settings.notifications ?? {}))
    settings.notifications![name] = placeNotification(entry, dirname(document.file), userHome)
  for (const [name, entry] of Object.entries(settings.schedules ?? {}))
    settings.schedules![name] = placeSchedule(entry, dirname(document.file), userHome)
  return { settings, problems }
}

/** Puts a fault where a person finds it. Adapter options may stand in `options` or beside the other keys of the agent. */
export function locate(fault: Fault, path: Path, document: SettingsDocument | undefined): Problem {
  if (!document) return { path, sentence: () => fault.sentence('', path) }
  const shown = writtenPath(path, document)
  return { file: document.file, ...document.placeOf(shown), path: shown, sentence: (where) => fault.sentence(where, shown) }
}

export function writtenPath(path: Path, document: SettingsDocument | undefined): Path {
  if (document?.written) return document.written(path)
  const beside = path[0] === 'agents' && path[2] === 'options' && path.length > 3 ? [...path.slice(0, 2), ...path.slice(3)] : path
  return document?.has(path) ? path : beside
}

export function mergeLayers(layers: readonly Layer[]): Merged {
  const settings: Record<string, unknown> = {}
  const origins = new Map<string, Origin>()
  for (const layer of layers) {
    for (const [name, entry] of Object.entries(layer.settings.agents ?? {})) {
      const lower = (settings.agents as Record<string, AgentEntry> | undefined)?.[name]
      // Another adapter or preset is another agent: what was set for the old program means nothing to the new one.
      const isSame = (key: 'adapter' | 'preset') => entry[key] === undefined || lower?.[key] === entry[key]
      if (!lower || (isSame('adapter') && isSame('preset'))) continue
      delete (settings.agents as Record<string, AgentEntry>)[name]
      for (const [key, { path }] of origins) if (path[0] === 'agents' && path[1] === name) origins.delete(key)
    }
    merge(settings, layer.settings, [], layer, origins)
  }
  return { settings, origins }
}

function merge(
  target: Record<string, unknown>,
  upper: Record<string, unknown>,
  path: Path,
  layer: Layer,
  origins: Map<string, Origin>,
): void {
  for (const [key, value] of Object.entries(upper)) {
    // An empty block (`agents:` with nothing below it) says nothing; a null limit says "none".
    if (value === undefined || (value === null && (path.length === 0 || isObject(target[key])))) continue
    const here = [...path, key]
    origins.set(formatPath(here), { layer, path: here })
    if (!isObject(value) || isWhole(here)) target[key] = value
    else {
      const lower = target[key]
      const fresh = isObject(lower) ? { ...lower } : {}
      target[key] = fresh
      merge(fresh, value, here, layer, origins)
    }
  }
}

/** Values that only make sense as one: half a provider from one file and half from another would be nobody's intention. */
function isWhole(path: Path): boolean {
  if (path[0] === 'providers' || path[0] === 'models' || path[0] === 'profiles' || path[0] === 'notifications')
    return path.length >= 2
  if (path[0] === 'prices' || path[0] === 'schedules' || path[0] === 'mounts') return path.length >= 2
  if (path[0] === 'mcpServers') return path.length >= 2
  if (path[0] === 'questions') return path.length >= 2
  if (path[0] === 'checks' || (path[0] === 'agents' && path[2] === 'checks')) return true
  return path[0] === 'agents' && path[2] === 'options' && path.length > 3
}

function gatherOptions(
  name: string,
  entry: AgentEntry,
  context: { document: SettingsDocument; userHome: string | undefined; problems: Problem[] },
): AgentEntry {
  const { document, userHome, problems } = context
  const folder = dirname(document.file)
  const gathered: Record<string, unknown> = {}
  const options: Record<string, unknown> = { ...entry.options }
  for (const [key, value] of Object.entries(entry)) {
    if (Object.hasOwn(agentShape, key)) gathered[key] = value
    else if (Object.hasOwn(options, key))
      problems.push(
        locate(
          {
            path: [],
            sentence: (where, shown) =>
              `${formatPath(shown)} in ${where} is set twice, here and under "options"; keep one of them.`,
          },
          ['agents', name, key],
          document,
        ),
      )
    else options[key] = value
  }
  // A program named by a path is meant from the file that names it, wherever Pawl is called.
  const { command } = options
  if (Array.isArray(command) && typeof command[0] === 'string' && command[0].includes('/'))
    options.command = [absolute(command[0], folder, userHome), ...command.slice(1)]
  if (typeof command === 'string' && command.includes('/')) options.command = absolute(command, folder, userHome)
  if (entry.auth?.file !== undefined) gathered.auth = { ...entry.auth, file: absolute(entry.auth.file, folder, userHome) }
  const { systemPromptFile: prompts } = entry
  if (prompts !== undefined)
    gathered.systemPromptFile = Array.isArray(prompts)
      ? prompts.map((file) => absolute(file, folder, userHome))
      : absolute(prompts, folder, userHome)
  if (Object.keys(options).length > 0) gathered.options = options
  return gathered
}

/** The value with what stands at the path taken out; if nothing stands there, its parent is what is wrong. */
function without(value: unknown, path: Path): unknown {
  if (path.length === 0) return {}
  const parents: unknown[] = [value]
  for (const step of path.slice(0, -1)) {
    const above = parents.at(-1)
    parents.push(isObjectOrArray(above) ? above[step] : undefined)
  }
  const parent = parents.at(-1)
  const last = path.at(-1)!
  if (!isObjectOrArray(parent) || !Object.hasOwn(parent, last)) return without(value, path.slice(0, -1))
  if (Array.isArray(parent)) return without(value, path.slice(0, -1))
  delete parent[last]
  return value
}
