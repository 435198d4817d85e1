import { pauserOf, type Sandbox } from '../../sandbox/port.ts'
import type { Watch } from '../base/watch.ts'

/** A sandbox of which everything that it launches stands still while the run is held, and ends if the run is lost meanwhile. */
export function heldSandbox(sandbox: Sandbox, watch: Watch): Sandbox {
  return {
    ...sandbox,
    async launch(command, walls) {
      const walled = await sandbox.launch(command, walls)
      const end = () => void walled.child.stop({ graceMs: 0 }).catch(() => undefined)
      const leave = watch.accompany(pauserOf(walled), walled.child.pid, end)
      void walled.child.exited.then(leave)
      return walled
    },
  }
}
