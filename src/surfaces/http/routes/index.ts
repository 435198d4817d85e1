import type { App, Parts } from '../app.ts'
import { agentRoutes } from './agents.ts'
import { auditRoutes } from './audit.ts'
import { checkRoutes } from './checks.ts'
import { costRoutes } from './costs.ts'
import { daemonRoutes } from './daemon.ts'
import { eventRoutes } from './events.ts'
import { feedRoutes } from './feed.ts'
import { healthRoutes } from './health.ts'
import { limitRoutes } from './limits.ts'
import { modelRoutes } from './models.ts'
import { notificationRoutes } from './notifications.ts'
import { pageRoutes } from './page.ts'
import { profileRoutes } from './profiles.ts'
import { questionRoutes } from './questions.ts'
import { recordingRoutes } from './recordings.ts'
import { reviewRoutes } from './reviews.ts'
import { scheduleRoutes } from './schedules.ts'
import { secretRoutes } from './secrets.ts'
import { sessionRoutes } from './sessions.ts'
import { signInRoutes } from './sign-in.ts'
import { skillRoutes } from './skills.ts'
import { taskRoutes } from './tasks.ts'
import { userRoutes } from './users.ts'
import { workspaceRoutes } from './workspaces.ts'

const routes = [
  taskRoutes,
  reviewRoutes,
  eventRoutes,
  feedRoutes,
  checkRoutes,
  sessionRoutes,
  scheduleRoutes,
  questionRoutes,
  agentRoutes,
  limitRoutes,
  modelRoutes,
  profileRoutes,
  skillRoutes,
  workspaceRoutes,
  recordingRoutes,
  notificationRoutes,
  costRoutes,
  healthRoutes,
  userRoutes,
  auditRoutes,
  secretRoutes,
  signInRoutes,
  pageRoutes,
  daemonRoutes,
]

export function addRoutes(app: App, parts: Parts): void {
  for (const add of routes) add(app, parts)
}
