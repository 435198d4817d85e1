import { hkdfSync } from 'node:crypto'
import { version } from '../base/version.ts'
import type { Runtime } from '../operations/runtime.ts'
import { createMcpMount } from '../surfaces/mcp/mount.ts'
import type { Mount } from '../surfaces/mount.ts'
import type { Ground } from './ground.ts'

/** MCP behind the gate of the API. A daemon that nobody speaks MCP to does not load it. */
export function mountMcp(
  { clock, log, conformance }: Ground,
  { runtime, homeToken }: { runtime: Runtime; homeToken: string },
): Mount {
  return createMcpMount({
    async load() {
      const { createMcpDoor } = await import('../surfaces/mcp/door.ts')
      return createMcpDoor({ runtime, log, clock, version, key: sealingKey(homeToken), extras: conformance?.mcp })
    },
  })
}

/** Made of the home's token, so that it is the same after a restart and lies nowhere else. */
export const sealingKey = (homeToken: string) => new Uint8Array(hkdfSync('sha256', homeToken, '', 'pawl mcp request state', 32))
