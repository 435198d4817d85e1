import { connectServer } from './connect.ts'
import type { LookAtServer } from './port.ts'

export const lookAtServer: LookAtServer = async (name, server, place, signal) => {
  const { client, facts, close } = await connectServer(name, server, place, signal)
  try {
    const { tools } = client.getServerCapabilities()?.tools
      ? await client.listTools(undefined, { timeout: server.startTimeoutMs, signal })
      : { tools: [] }
    return { ...facts, tools: tools.map((tool) => tool.name) }
  } finally {
    await close()
  }
}
