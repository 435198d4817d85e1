import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { StreamResponse, Task } from '@a2a-js/sdk'
import type { Client } from '@a2a-js/sdk/client'
import { connect, request, stateOf, textOf } from '../a2a/stage.ts'
import type { Arm } from './daemon.ts'
import { type CrashHome, pause } from './home.ts'
import { type Acknowledged, newTask } from './scenario.ts'

/** The places that a streamed task with a question passes, in their order; the last again for the run that hears the answer. */
export const a2aPoints: readonly (readonly [point: string, skip: number])[] = [
  ['task.create.before', 0],
  ['task.create.after', 0],
  ['task.admit.after', 0],
  ['claim.after', 0],
  ['spawn.after', 0],
  ['event.batch.after', 0],
  ['question.ask.after', 0],
  ['run.settle.before', 0],
  ['run.settle.after', 0],
  ['question.answer.before', 0],
  ['question.answer.after', 0],
  ['run.settle.before', 1],
  ['run.settle.after', 1],
]

const withinMs = 60_000

/**
 * Has a task done through a stream of A2A while everything dies, as a careful client would: the same message until it is confirmed, the stream again whenever it is cut.
 * What was said has one id and one wording in all streams, and comes once in each.
 */
export async function playA2A(home: CrashHome, arm: Arm, tag: string): Promise<Acknowledged[]> {
  const { prompt, agentConfig, tags } = newTask({ kind: 'ask', tag })
  const messageId = `${tag}.ask`
  const sent = request({ text: prompt, messageId, metadata: { pawl: { agentConfig, tags } } })
  const words = `blue for ${tag}`
  await home.arm(arm)

  const said = new Map<string, string>()
  let id: string | undefined
  const through = async (client: Client): Promise<'ended' | 'asks'> => {
    const once = new Set<string>()
    const stream = id === undefined ? client.sendMessageStream(sent) : client.resubscribeTask({ tenant: '', id })
    let isFirst = true
    for await (const event of stream) {
      const task = taskOf(event)
      if (isFirst && event.payload?.$case !== 'task') throw new Error(`a stream began with ${event.payload?.$case}`)
      if (id !== undefined && task !== id) throw new Error(`C1: the message came to ${id} and then to ${task}`)
      id = task
      isFirst = false
      for (const [message, text] of wordsIn(event)) {
        if (once.has(message)) throw new Error(`C2: ${message} came twice in one stream`)
        if (event.payload?.$case === 'statusUpdate') once.add(message)
        if ((said.get(message) ?? text) !== text) throw new Error(`C2: ${message} was "${said.get(message)}" and then "${text}"`)
        said.set(message, text)
      }
      const state = stateIn(event)
      if (state === 'INPUT_REQUIRED') return 'asks'
      if (state === 'COMPLETED') return 'ended'
      if (state === 'FAILED' || state === 'CANCELED') throw new Error(`C3: the task ended ${state}`)
    }
    throw new Error('C9: a stream ended before its task')
  }
  const answer = async (client: Client) => {
    const text = request({ text: words, taskId: id!, messageId: `${tag}.answer`, configuration: { returnImmediately: true } })
    await client.sendMessage(text)
  }

  for (let state = await patiently(home, through); state !== 'ended'; state = await patiently(home, through))
    await patiently(home, answer)
  const done = await patiently(home, (client) => client.getTask({ tenant: '', id: id! }))
  assertWhole(done, said, [messageId, `${tag}.answer`], words)
  const { questions } = await home.ask((client) => client.getTask(id!))
  const answers = questions.map((question) => ({ questionId: question.id, answer: words }))
  const body = { prompt, ...(agentConfig ? { agentConfig } : {}), ...(tags ? { tags } : {}) }
  return [{ id: id!, key: `a2a:${messageId}`, body, kind: 'ask', ends: ['completed'], answers, lost: [] }]
}

/** Again and again until somebody answers; what the task itself says is believed at once. */
async function patiently<T>(home: CrashHome, work: (client: Client) => Promise<T>): Promise<T> {
  const deadline = performance.now() + withinMs
  for (;;) {
    await home.settled()
    try {
      return await work(await connectTo(home))
    } catch (error) {
      const { name, message } = error as Error
      // A task that ended meanwhile has no stream any more.
      if (/UnsupportedOperation/.test(name) && /has ended \(completed\)/.test(message)) return 'ended' as T
      if (/^C\d/.test(message) || performance.now() > deadline) throw error
      await pause(50)
    }
  }
}

function connectTo(home: CrashHome): Promise<Client> {
  const { url } = JSON.parse(readFileSync(join(home.dir, 'run.json'), 'utf8')) as { url: string }
  const token = readFileSync(join(home.dir, 'token'), 'utf8').trim()
  return connect(`${url}/a2a`, { binding: 'JSONRPC', token })
}

function assertWhole(task: Task, said: ReadonlyMap<string, string>, sent: readonly string[], words: string): void {
  if (stateOf(task) !== 'COMPLETED') throw new Error(`C3: the task is ${stateOf(task)}`)
  const ids = task.history.map(({ messageId }) => messageId)
  if (new Set(ids).size !== ids.length) throw new Error(`C2: a message stands twice in the history: ${ids.join(', ')}`)
  for (const id of [...sent, ...said.keys()].filter((one) => !one.endsWith('-status')))
    if (!ids.includes(id)) throw new Error(`C1: ${id} is missing in the history: ${ids.join(', ')}`)
  if (task.artifacts.length !== 1 || !textOf(task.artifacts[0]?.parts).includes(words))
    throw new Error(`C1: the answer was not heard: ${JSON.stringify(task.artifacts)}`)
}

function taskOf({ payload }: StreamResponse): string {
  if (payload?.$case === 'task') return payload.value.id
  return payload?.$case === 'statusUpdate' || payload?.$case === 'artifactUpdate' ? payload.value.taskId : ''
}

function wordsIn({ payload }: StreamResponse): [string, string][] {
  const messages =
    payload?.$case === 'task' ? payload.value.history : payload?.$case === 'statusUpdate' ? [payload.value.status?.message] : []
  return messages.flatMap((message) => (message ? [[message.messageId, textOf(message.parts)] as [string, string]] : []))
}

const stateIn = ({ payload }: StreamResponse) =>
  payload?.$case === 'task' || payload?.$case === 'statusUpdate' ? stateOf(payload.value) : undefined
