import type { App, Parts } from '../app.ts'
import { agentRoutes } from './agents.ts'
import { auditRoutes } from './audit.ts'
import { daemonRoutes } from './daemon.ts'
import { eventRoutes } from './events.ts'
import { healthRoutes } from './health.ts'
import { profileRoutes } from './profiles.ts'
import { questionRoutes } from './questions.ts'
import { secretRoutes } from './secrets.ts'
import { sessionRoutes } from './sessions.ts'
import { signInRoutes } from './sign-in.ts'
import { skillRoutes } from './skills.ts'
import { taskRoutes } from './tasks.ts'
import { userRoutes } from './users.ts'
import { workspaceRoutes } from './workspaces.ts'

const routes = [
  taskRoutes,
  eventRoutes,
  sessionRoutes,
  questionRoutes,
  agentRoutes,
  profileRoutes,
  skillRoutes,
  workspaceRoutes,
  healthRoutes,
  userRoutes,
  auditRoutes,
  secretRoutes,
  signInRoutes,
  daemonRoutes,
]

export function addRoutes(app: App, parts: Parts): void {
  for (const add of routes) add(app, parts)
}
