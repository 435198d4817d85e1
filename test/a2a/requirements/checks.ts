import { bindingChecks } from './checks-bindings.ts'
import { operationChecks } from './checks-operations.ts'
import { pushChecks } from './checks-push.ts'
import type { RequirementName } from './list.ts'
import type { World } from './world.ts'

/** Rejects where the rule is not kept. */
export type Check = (world: World) => Promise<void>

export const checks: Record<RequirementName, Check> = { ...operationChecks, ...pushChecks, ...bindingChecks }
