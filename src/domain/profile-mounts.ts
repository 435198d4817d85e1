import type { Profile, ProfileMount } from './profile.ts'

/** What an agent is told of the places beyond its workspace, one line for each; empty if there are none. */
export function mountLines(mounts: readonly ProfileMount[], { enforced }: { enforced: boolean }): string[] {
  return mounts.map((mount) => {
    const kept = mount.persistent ? ', kept between tasks' : ''
    // Without walls nothing keeps anybody from writing, and that is not to be claimed.
    const readOnly = enforced ? 'read-only' : 'not to be written'
    return `- ${mount.path} (${mount.mode === 'rw' ? 'may be written' : readOnly}${kept}): ${mount.name}${mount.description ? `, ${mount.description}` : ''}`
  })
}

/** The path on the machine of one that was seen inside, for whoever sits outside; unchanged if it lies in no mount. */
export function hostPath({ mounts }: Pick<Profile, 'mounts'>, path: string): string {
  const mount = mounts.filter((candidate) => isWithin(path, candidate.path)).sort(byDepth)[0]
  return mount ? mount.source + path.slice(mount.path === '/' ? 0 : mount.path.length) : path
}

const byDepth = (a: ProfileMount, b: ProfileMount) => b.path.length - a.path.length

export const isWithin = (path: string, folder: string) =>
  path === folder || path.startsWith(folder.endsWith('/') ? folder : `${folder}/`)
