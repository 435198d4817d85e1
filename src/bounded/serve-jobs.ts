import { parentPort } from 'node:worker_threads'
import { messageOf } from '../domain/error.ts'
import type { JobList } from './thread.ts'

/** Does what the thread is asked for, one job after another. The first message says that it has started. */
export function serveJobs<Jobs extends JobList<Jobs>>(
  work: {
    [Name in keyof Jobs]: (input: Jobs[Name]['input']) => Promise<Jobs[Name]['output']>
  },
): void {
  parentPort!.on('message', async ({ name, input }: { name: keyof Jobs; input: never }) => {
    try {
      parentPort!.postMessage({ output: await work[name](input) })
    } catch (error) {
      parentPort!.postMessage({ error: messageOf(error) })
    }
  })
  parentPort!.postMessage('ready')
}
