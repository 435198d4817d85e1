import type { ProfileMount } from './profile.ts'

/** What an agent is told of the places beyond its workspace, one line for each; empty if there are none. */
export function mountLines(mounts: readonly ProfileMount[], { enforced }: { enforced: boolean }): string[] {
  return mounts.map((mount) => {
    const kept = mount.persistent ? ', kept between tasks' : ''
    // Without walls nothing keeps anybody from writing, and that is not to be claimed.
    const readOnly = enforced ? 'read-only' : 'not to be written'
    return `- ${mount.path} (${mount.mode === 'rw' ? 'may be written' : readOnly}${kept}): ${mount.name}${mount.description ? `, ${mount.description}` : ''}`
  })
}

export const isWithin = (path: string, folder: string) =>
  path === folder || path.startsWith(folder.endsWith('/') ? folder : `${folder}/`)
