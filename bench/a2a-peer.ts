/** The SDK's own server with an agent that completes at once: everything in memory, or tasks in the database that PEER_DATABASE names. Prints where it listens. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { AGENT_CARD_PATH, type AgentCard, TaskState } from '@a2a-js/sdk'
import { AgentEvent, DefaultRequestHandler, InMemoryTaskStore } from '@a2a-js/sdk/server'
import { DatabaseTaskStore } from '@a2a-js/sdk/server/database'
import { agentCardHandler, jsonRpcHandler, UserBuilder } from '@a2a-js/sdk/server/express'
import express from 'express'
import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'

const card: AgentCard = {
  name: 'peer',
  description: 'Does nothing.',
  version: '1',
  supportedInterfaces: [{ url: 'http://127.0.0.1/', protocolBinding: 'JSONRPC', protocolVersion: '1.0', tenant: '' }],
  provider: undefined,
  capabilities: { streaming: true, pushNotifications: false, extendedAgentCard: false, extensions: [] },
  securitySchemes: {},
  securityRequirements: [],
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [],
  signatures: [],
}
const requestHandler = new DefaultRequestHandler(card, await tasks(), {
  async execute({ taskId, contextId, userMessage }, bus) {
    const status = { state: TaskState.TASK_STATE_COMPLETED, message: undefined, timestamp: new Date().toISOString() }
    bus.publish(AgentEvent.task({ id: taskId, contextId, status, artifacts: [], history: [userMessage], metadata: undefined }))
    bus.finished()
  },
  async cancelTask() {},
})
const app = express()
app.use(`/${AGENT_CARD_PATH}`, agentCardHandler({ agentCardProvider: requestHandler }))
app.use('/', jsonRpcHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication }))
const server = createServer(app as never)
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`))

async function tasks() {
  const database = process.env.PEER_DATABASE
  if (database === undefined) return new InMemoryTaskStore()
  const pool = new pg.Pool({ ...(JSON.parse(database) as pg.PoolConfig), max: 10 })
  const columns = ['status_state', 'status', 'artifacts', 'history', 'metadata', 'protocol_version'].map((name) => `${name} text`)
  await pool.query(
    `create table peer_tasks (tenant text, owner text, id text, context_id text not null, status_last_updated bigint not null, ${columns}, primary key (tenant, owner, id))`,
  )
  return new DatabaseTaskStore(new Kysely({ dialect: new PostgresDialect({ pool }) }), { tableName: 'peer_tasks' })
}
