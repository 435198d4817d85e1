import { createGate } from '../base/gate.ts'
import { onThread, type ThreadLimits, TookTooLong } from '../bounded/thread.ts'
import type { TaskFile } from '../cli/task-file/read.ts'
import { invalid, PawlError } from '../domain/error.ts'

/** Half a megabyte of keys keeps a reader of YAML busy for minutes, which holds each of them against all others. */
const limits: ThreadLimits = { line: createGate(2), deadlineMs: 5_000 }

/** Reads a task file that somebody sent, on a thread: this process serves every run. */
export async function readTaskText(text: string, options: { shown: string; folder: string }): Promise<TaskFile> {
  const read = await onThread(limits, (ask) => ask('readTasks', { text, ...options })).catch((error: unknown) => {
    if (!(error instanceof TookTooLong)) throw error
    throw invalid(`This task file cannot be read: ${error.message}. Divide it, or use "pawl task add -f".`)
  })
  if ('file' in read) return read.file
  throw new PawlError(read.code, read.fault, read.details === undefined ? {} : { details: read.details })
}
