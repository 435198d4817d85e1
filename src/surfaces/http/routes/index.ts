import type { App, Parts } from '../app.ts'
import { agentRoutes } from './agents.ts'
import { daemonRoutes } from './daemon.ts'
import { eventRoutes } from './events.ts'
import { healthRoutes } from './health.ts'
import { questionRoutes } from './questions.ts'
import { sessionRoutes } from './sessions.ts'
import { taskRoutes } from './tasks.ts'

const routes = [taskRoutes, eventRoutes, sessionRoutes, questionRoutes, agentRoutes, healthRoutes, daemonRoutes]

export function addRoutes(app: App, parts: Parts): void {
  for (const add of routes) add(app, parts)
}
