import { parseArgs } from 'node:util'
import { startModelServer } from './server.ts'

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '0' },
    socket: { type: 'string' },
    scenario: { type: 'string' },
    log: { type: 'string' },
  },
})

const server = await startModelServer({
  port: Number(values.port),
  ...(values.socket === undefined ? {} : { socketPath: values.socket }),
  ...(values.scenario === undefined ? {} : { scenario: values.scenario }),
  ...(values.log === undefined ? {} : { logFile: values.log }),
})
process.stdout.write(`${JSON.stringify({ url: server.url })}\n`)
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void server.close())
