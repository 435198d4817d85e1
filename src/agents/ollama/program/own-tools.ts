import { bashTool } from './bash.ts'
import { editTool, writeTool } from './change-files.ts'
import { grepTool, listTool, readTool } from './look-at-files.ts'
import type { Tool } from './tool.ts'

/** Few and plain: a small model uses what it understands. */
export const ownTools: readonly Tool[] = [readTool, writeTool, editTool, listTool, grepTool, bashTool]
