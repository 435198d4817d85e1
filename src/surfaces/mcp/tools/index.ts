import type { OfferedTool } from '../tool.ts'
import { getTask, listAgents, listTasks, readChanges, readLog, readResult } from './look.ts'
import { answerQuestion, listQuestions } from './questions.ts'
import { cancelTask, createTask, retryTask, reviewTask, runTask, sendMessage, waitTask } from './work.ts'

export const tools: readonly OfferedTool[] = [
  runTask,
  createTask,
  waitTask,
  getTask,
  listTasks,
  readResult,
  readLog,
  readChanges,
  sendMessage,
  listQuestions,
  answerQuestion,
  reviewTask,
  retryTask,
  cancelTask,
  listAgents,
]
