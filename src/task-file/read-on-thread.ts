import { createGate } from '../base/gate.ts'
import { onThread, type ThreadLimits, type ThreadProgram, TookTooLong } from '../bounded/thread.ts'
import { type ErrorCode, invalid, PawlError } from '../domain/error.ts'
import type { TaskFile } from './read.ts'

export interface TaskFileJobs {
  /** Reads a task file: its tasks, or what is wrong with it. */
  readTasks: {
    readonly input: { readonly text: string; readonly shown: string; readonly folder: string }
    readonly output:
      | { readonly file: TaskFile }
      | { readonly code: ErrorCode; readonly fault: string; readonly details: Record<string, unknown> | undefined }
  }
}

const program: ThreadProgram<TaskFileJobs> = { folder: 'task-file', from: import.meta.url }
/** Half a megabyte of keys, or 2,000 nested question marks, keep the YAML reader busy for minutes. */
const limits: ThreadLimits = { line: createGate(2), deadlineMs: 5_000 }

/** Reads a task file that somebody sent, on a thread: this process serves every run. */
export async function readTaskTextOnThread(text: string, options: { shown: string; folder: string }): Promise<TaskFile> {
  const read = await onThread(limits, (ask) => ask('readTasks', { text, ...options }), program).catch((error: unknown) => {
    if (!(error instanceof TookTooLong)) throw error
    throw invalid(`This task file cannot be read: ${error.message}. Divide it, or use "pawl task add -f".`)
  })
  if ('file' in read) return read.file
  throw new PawlError(read.code, read.fault, read.details === undefined ? {} : { details: read.details })
}
