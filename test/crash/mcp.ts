import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { rpc } from '../mcp/peer.ts'
import type { Arm } from './daemon.ts'
import { type CrashHome, pause } from './home.ts'
import type { Acknowledged } from './scenario.ts'

/** The places that a task of MCP passes which asks something, in their order; the last for one that is cancelled while it asks. */
export const mcpPoints: readonly (readonly [point: string, skip: number])[] = [
  ['task.create.before', 0],
  ['task.create.after', 0],
  ['task.admit.after', 0],
  ['claim.after', 0],
  ['question.ask.after', 0],
  ['run.settle.after', 0],
  ['question.answer.before', 0],
  ['question.answer.after', 0],
  ['run.settle.before', 1],
  ['run.settle.after', 1],
  ['task.cancel.before', 0],
  ['task.cancel.after', 0],
]

const withinMs = 60_000

interface Got {
  readonly status: string
  readonly taskId: string
  readonly inputRequests?: Record<string, { params: { requestedSchema: { properties: { choice: { enum: string[] } } } } }>
  readonly result?: { structuredContent: { task: { id: string; state: string; result: { text: string } } } }
}

/** Has work done as a task of MCP while everything dies, as a careful client would: the same call with the same key until it is confirmed, then asking for the task. */
export async function playMcp(home: CrashHome, arm: Arm, tag: string): Promise<Acknowledged[]> {
  const body = { prompt: `look around for ${tag}`, agent: 'demo', tags: [tag] }
  const key = `${tag}.mcp`
  const isCancelled = arm.name.startsWith('task.cancel')
  await home.arm(arm)
  const made = { name: 'run_task', arguments: { ...body, idempotencyKey: key } }
  const { taskId: id } = await patiently<Got>(home, 'tools/call', made)
  const { taskId: again } = await patiently<Got>(home, 'tools/call', made)
  if (again !== id) throw new Error(`C1: the call made ${id} and then ${again}`)
  const answers: { questionId: string; answer: string }[] = []
  const deadline = performance.now() + withinMs
  for (;;) {
    const task = await patiently<Got>(home, 'tasks/get', { taskId: id })
    if (task.taskId !== id) throw new Error(`C1: ${id} was asked for and ${task.taskId} came`)
    if (task.status === 'cancelled' && isCancelled) break
    if (task.status === 'completed') {
      const { state, result } = task.result!.structuredContent.task
      if (state !== 'completed' || isCancelled) throw new Error(`C3: the task ended ${state}`)
      if (answers.length !== 1 || !result.text.includes(tag)) throw new Error(`C1: ${answers.length} answers, "${result.text}"`)
      break
    }
    if (performance.now() > deadline) {
      const { state, reason, questions } = await home.ask((client) => client.getTask(id))
      throw new Error(`C3: the task is still ${JSON.stringify({ status: task.status, state, reason, questions })}`)
    }
    for (const [questionId, { params }] of Object.entries(task.inputRequests ?? {})) {
      if (isCancelled) {
        await patiently(home, 'tasks/cancel', { taskId: id })
        continue
      }
      const choice = params.requestedSchema.properties.choice.enum[0]!
      if (!answers.some((one) => one.questionId === questionId)) answers.push({ questionId, answer: choice })
      await patiently(home, 'tasks/update', {
        taskId: id,
        inputResponses: { [questionId]: { action: 'accept', content: { choice } } },
      })
    }
    await pause(50)
  }
  return [{ id, key, body, kind: 'restore', ends: [isCancelled ? 'cancelled' : 'completed'], answers, lost: [] }]
}

/** Again and again until somebody answers; what the protocol itself refuses is believed at once. */
async function patiently<T>(home: CrashHome, method: string, params: Record<string, unknown>): Promise<T> {
  const deadline = performance.now() + withinMs
  for (;;) {
    await home.settled()
    try {
      const { url } = JSON.parse(readFileSync(join(home.dir, 'run.json'), 'utf8')) as { url: string }
      const token = readFileSync(join(home.dir, 'token'), 'utf8').trim()
      const { result, error } = await rpc<T & { isError?: boolean }>({ url: () => `${url}/mcp`, token }, method, params)
      if (error) throw new Error(`C9: ${method} was refused: ${error.message}`)
      if (!result.isError) return result
      throw new Error(JSON.stringify(result))
    } catch (error) {
      if (/^C\d/.test((error as Error).message) || performance.now() > deadline) throw error
      await pause(50)
    }
  }
}
