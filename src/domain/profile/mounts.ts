import type { ProfileMount } from './profile.ts'

/** What an agent is told of the places beyond its workspace, one line for each; empty if there are none. */
export function mountLines(mounts: readonly ProfileMount[], { enforced }: { enforced: boolean }): string[] {
  return mounts.map((mount) => {
    const place = mount.alias !== undefined && enforced ? `${mount.path}, also ${mount.alias}` : mount.path
    const outside = mount.path === mount.source ? '' : `; the user knows it as ${mount.source}`
    const kept = `${mount.from === 'user' ? ', of this user' : ''}${mount.persistent ? ', kept between tasks' : ''}${outside}`
    // Without walls nothing keeps anybody from writing, and that is not to be claimed.
    const readOnly = enforced ? 'read-only' : 'not to be written'
    return `- ${place} (${mount.mode === 'rw' ? 'may be written' : readOnly}${kept}): ${mount.name}${mount.description ? `, ${mount.description}` : ''}`
  })
}
