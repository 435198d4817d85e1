import { release } from 'node:os'
import type { LimitHolder, WallLimits } from '../port.ts'

/**
 * The first program inside. Tells us that the walls stand and waits for our answer, unless that is left to our init, and sets the limits of
 * each process; after the answer, because the shell itself needs a few more files for that. A limit that is above what we have
 * ourselves is refused, and the lower one stays. If the machine runs out of memory, the kernel is to take what is inside before it takes us.
 */
const script = `
[ "$4" = door ] || { echo >&3; read -r answer <&3 || exit 1; exec 3>&- 6>&- 7>&-; }
echo 500 2>/dev/null > /proc/self/oom_score_adj
ulimit -c 0
ulimit -n "$1" 2>/dev/null
[ "$2" = 0 ] || ulimit -p "$2" 2>/dev/null || ulimit -u "$2" 2>/dev/null
[ "$3" = 0 ] || ulimit -f "$3" 2>/dev/null
shift 4
exec "$@"
`

/** A shell counts the size of a file in these. */
const blockBytes = 512

/** The words that go before the first program of the agent. */
export function limiting(limits: WallLimits, mode: 'door' | 'plain'): string[] {
  const processes = countsProcessesPerWalls() ? limits.processes : 0
  const blocks = limits.fileBytes === undefined ? 0 : Math.max(1, Math.floor(limits.fileBytes / blockBytes))
  return ['/bin/sh', '-c', script, 'sh', String(limits.openFiles), String(processes), String(blocks), mode]
}

export type Held = Readonly<Record<'processes' | 'openFiles' | 'memory' | 'file', LimitHolder>>

/** `tree`: the kernel keeps an account of these walls, and holds their memory and processes by it. */
export function heldBy(limits: WallLimits, options: { readonly tree: boolean }): Held {
  const { tree } = options
  return {
    processes: tree || countsProcessesPerWalls() ? 'tree' : 'none',
    openFiles: 'process',
    memory: limits.memoryBytes === undefined ? 'none' : tree ? 'tree' : 'watched',
    file: limits.fileBytes === undefined ? 'none' : 'process',
  }
}

/** Since Linux 5.14 the limit of processes counts within a user namespace; before, it counted all processes of the user anywhere. */
function countsProcessesPerWalls(): boolean {
  const [major = 0, minor = 0] = release().split('.').map(Number)
  return major > 5 || (major === 5 && minor >= 14)
}
