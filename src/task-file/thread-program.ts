import { serveJobs } from '../bounded/serve-jobs.ts'
import { PawlError } from '../domain/error.ts'
import { readTaskText } from './read.ts'
import type { TaskFileJobs } from './read-on-thread.ts'

serveJobs<TaskFileJobs>({
  async readTasks({ text, ...options }) {
    try {
      return { file: readTaskText(text, options) }
    } catch (error) {
      if (!(error instanceof PawlError)) throw error
      return { code: error.code, fault: error.message, details: error.details }
    }
  },
})
