import type { App, Parts } from '../app.ts'
import { agentRoutes } from './agents.ts'
import { artifactRoutes } from './artifacts.ts'
import { auditRoutes } from './audit.ts'
import { backupRoutes } from './backups.ts'
import { boardRoutes } from './board.ts'
import { changeRoutes } from './changes.ts'
import { checkRoutes } from './checks.ts'
import { costRoutes } from './costs.ts'
import { daemonRoutes } from './daemon.ts'
import { draftRoutes } from './drafts.ts'
import { elaborateRoutes } from './elaborate.ts'
import { eventRoutes } from './events.ts'
import { feedRoutes } from './feed.ts'
import { healthRoutes } from './health.ts'
import { limitRoutes } from './limits.ts'
import { mcpServerRoutes } from './mcp-servers.ts'
import { metricsRoutes } from './metrics.ts'
import { modelRoutes } from './models.ts'
import { notificationRoutes } from './notifications.ts'
import { pageRoutes } from './page.ts'
import { profileRoutes } from './profiles.ts'
import { pushRoutes } from './push.ts'
import { questionRoutes } from './questions.ts'
import { recordingRoutes } from './recordings.ts'
import { reviewRoutes } from './reviews.ts'
import { runLogRoutes } from './run-logs.ts'
import { scheduleRoutes } from './schedules.ts'
import { secretRoutes } from './secrets.ts'
import { sessionRoutes } from './sessions.ts'
import { settingsRoutes } from './settings.ts'
import { signInRoutes } from './sign-in.ts'
import { skillRoutes } from './skills.ts'
import { taskRoutes } from './tasks.ts'
import { transferRoutes } from './transfer.ts'
import { uploadRoutes } from './uploads.ts'
import { userRoutes } from './users.ts'
import { workspaceRoutes } from './workspaces.ts'

const routes = [
  // Before those of one task: their paths begin alike.
  draftRoutes,
  elaborateRoutes,
  taskRoutes,
  boardRoutes,
  reviewRoutes,
  eventRoutes,
  feedRoutes,
  checkRoutes,
  uploadRoutes,
  artifactRoutes,
  changeRoutes,
  runLogRoutes,
  sessionRoutes,
  scheduleRoutes,
  questionRoutes,
  agentRoutes,
  limitRoutes,
  modelRoutes,
  mcpServerRoutes,
  profileRoutes,
  skillRoutes,
  workspaceRoutes,
  recordingRoutes,
  notificationRoutes,
  pushRoutes,
  costRoutes,
  healthRoutes,
  metricsRoutes,
  userRoutes,
  auditRoutes,
  backupRoutes,
  transferRoutes,
  secretRoutes,
  settingsRoutes,
  signInRoutes,
  pageRoutes,
  daemonRoutes,
]

export function addRoutes(app: App, parts: Parts): void {
  for (const add of routes) add(app, parts)
}
