import { basename } from 'node:path'
import { hostPath, isInside } from '../domain/base/path.ts'
import type { ProfileMount } from '../domain/profile/profile.ts'
import type { ProfileSettings } from '../domain/profile/resolve.ts'
import { absolute } from './places.ts'
import type { ProfileEntry, WrittenMount } from './profile-entry.ts'

/** Makes every path of it absolute, as seen from the file it stands in. Done once, when the file is read. */
export function placeProfile(entry: ProfileEntry, folder: string, userHome: string | undefined): ProfileEntry {
  const at = (path: string) => absolute(path, folder, userHome)
  return {
    ...entry,
    ...(entry.directories ? { directories: entry.directories.map(at) } : {}),
    ...(entry.mounts
      ? {
          mounts: entry.mounts.map((mount) => placeMount(mount, at)),
        }
      : {}),
    ...(entry.trust ? { trust: entry.trust.map(({ path, digest }) => ({ path: at(path), digest })) } : {}),
  }
}

export const placeMount = (mount: WrittenMount, at: (path: string) => string): WrittenMount => ({
  ...mount,
  source: at((mount.source ?? mount.path)!),
  path: at((mount.path ?? mount.source)!),
})

/** The entry in the words of the domain. */
export function profileSettings(entry: ProfileEntry): ProfileSettings {
  const { rules, tools, network, limits } = entry
  return {
    extends: entry.extends,
    walls: entry.walls,
    rules: rules ? { ...lists(rules), otherwise: rules.otherwise } : undefined,
    tools: tools ? present({ native: tools.native, disabled: tools.disabled ?? undefined }) : undefined,
    mounts: [
      ...(entry.mounts ?? []).map(mountOf),
      ...(entry.directories ?? []).map((path) => mountOf({ path, source: path, mode: 'rw' })),
    ],
    network: network ? lists(network) : undefined,
    env: entry.env,
    secrets: entry.secrets ?? undefined,
    limits: limits
      ? {
          processes: limits.processes,
          openFiles: limits.openFiles,
          memoryMb: limits.memory,
          fileMb: limits.file,
          diskMb: limits.disk,
          outputMb: limits.output,
        }
      : undefined,
    skills: entry.skills ?? undefined,
    subagents: entry.subagents ?? undefined,
    mcpServers: entry.mcpServers,
    instructions: entry.instructions,
    trusted: entry.trust ?? undefined,
    nestedNamespaces: entry.nestedNamespaces,
    ssh: entry.ssh,
  }
}

/** Places whose contents are the machine itself; no mount may stand for them or lie in them. */
const system = ['/proc', '/sys', '/dev'].map(hostPath)

/** Why this may not be mounted, or undefined: the end of a sentence. */
export function mountFault({ source = '', path = '' }: WrittenMount): string | undefined {
  for (const place of [source, path]) {
    if (place === '') continue
    if (hostPath(place) === '/') return 'cannot be the whole machine; name what the agent needs'
    const found = system.find((folder) => isInside(folder, hostPath(place)))
    if (found !== undefined) return `cannot lie in ${found}`
  }
  return undefined
}

export function mountOf(mount: WrittenMount): ProfileMount {
  const source = (mount.source ?? mount.path)!
  const persistent = mount.persistent ?? false
  return {
    name: mount.name ?? (basename(source) || source),
    description: mount.description ?? '',
    source,
    path: mount.path ?? source,
    mode: mount.mode ?? (persistent ? 'rw' : 'ro'),
    persistent,
    required: mount.required ?? true,
  }
}

type Lists = { allow?: string[] | null | undefined; ask?: string[] | null | undefined; deny?: string[] | null | undefined }
const lists = ({ allow, ask, deny }: Lists) => ({ allow: allow ?? [], ask: ask ?? [], deny: deny ?? [] })

const present = <T extends Record<string, unknown>>(fields: T) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>
  }
