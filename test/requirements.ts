import { agentCore } from './requirements/agent-core.ts'
import { channelDaemon } from './requirements/channel-daemon.ts'
import { cliExecutor } from './requirements/cli-executor.ts'
import { hardCases } from './requirements/hard-cases.ts'
import { largerSystems } from './requirements/larger-systems.ts'
import type { Requirement } from './requirements/requirement.ts'
import { rulings } from './requirements/rulings.ts'
import { sdkExecutor } from './requirements/sdk-executor.ts'
import { taskRunner } from './requirements/task-runner.ts'

/**
 * Every behaviour Pawl owes: what the five systems it unites can do (S), their defects it must not have (W), what the larger systems
 * around them do (B), the rulings where they disagree (C), and the unpleasant cases nobody writes down (H). Each names the tests that show it, the issue that will bring it,
 * or the ruling that says it is not ours. An id stays open until the whole of its sentence is shown.
 */
export const requirements = {
  ...cliExecutor,
  ...sdkExecutor,
  ...agentCore,
  ...channelDaemon,
  ...taskRunner,
  ...largerSystems,
  ...rulings,
  ...hardCases,
} as const satisfies Record<string, Requirement>

export type RequirementId = keyof typeof requirements
