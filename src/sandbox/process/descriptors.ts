import { closeSync, existsSync, readdirSync, readFileSync } from 'node:fs'

/** Descriptors that every child of ours inherits: they came from whoever started us, and may be anything. Node marks those that it opens itself. */
export function leakingDescriptors(): number[] {
  if (!existsSync('/proc/self/fdinfo')) return []
  return readdirSync('/proc/self/fd')
    .map(Number)
    .filter((fd) => {
      if (fd < 3) return false
      const flags = /^flags:\s*([0-7]+)/m.exec(readInfo(fd))
      return flags !== null && (Number.parseInt(flags[1] ?? '0', 8) & 0o2000000) === 0
    })
}

/** For a process that is nobody's library: whatever it was started with it has read by now, and no agent is to have it. One that talks to its parent keeps all. */
export function closeLeaking(): void {
  if (!process.connected) for (const fd of leakingDescriptors()) closeSync(fd)
}

function readInfo(fd: number): string {
  try {
    return readFileSync(`/proc/self/fdinfo/${fd}`, 'latin1')
  } catch (error) {
    // The descriptor of the listing itself is closed again by now.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw error
  }
}
