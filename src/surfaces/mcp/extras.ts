import type { ReadResourceResult, Resource, ResourceTemplateType, Result, ServerEventBus } from '@modelcontextprotocol/server'
import type { OfferedPrompt } from './prompts.ts'
import type { OtherTasks } from './task-methods.ts'
import type { OfferedTool } from './tool.ts'

/** Offered beside our own tools. The conformance suite asks for tools, resources and prompts by fixed names; its tests pass them. */
export interface Extras {
  readonly tools: readonly OfferedTool[]
  readonly prompts: readonly OfferedPrompt[]
  readonly resources: readonly Resource[]
  readonly resourceTemplates: readonly ResourceTemplateType[]
  readonly tasks: OtherTasks
  /** Undefined for what is none of theirs. */
  readResource(uri: string): ReadResourceResult | undefined
  taskResult(id: string): Result | undefined
  /** Is given the way to tell that lists have changed; answers how to forget it. */
  onPublish?(publish: ServerEventBus['publish']): () => void
}
