import type { NoticeSeverity, SessionUpdate } from '@agentclientprotocol/sdk'
import { visible } from '../../domain/base/visible.ts'
import type { Event, EventData } from '../../domain/event/event.ts'
import type { Growing } from '../../domain/event/live-text.ts'
import { TodoKeeper } from '../../domain/event/todos.ts'
import { type Chunk, GrowingText } from './growing-text.ts'
import { shownCall } from './tool-call.ts'

/** What an editor says it can show beyond what every one must. */
export interface Shows {
  readonly notices: boolean
}

/** Tells an editor of one task, as updates of its session. */
export interface Teller {
  event(event: Event): void
  growing(growing: Growing | undefined): void
  /** What the task came to. Said if the agent has not said it: some programs give their answer only at the end. */
  result(text: string): void
  /** The id under which the editor knows a call that has not returned. */
  openCall(tool: string): string | undefined
}

export function createTeller(options: {
  task: string
  folder: string
  shows: Shows
  send: (update: SessionUpdate) => void
}): Teller {
  const { task, folder, shows, send } = options
  const texts = new GrowingText(task)
  const todos = new TodoKeeper()
  /** Calls that have not returned, by run and the program's own id of them, which it may use again. */
  const open = new Map<string, { readonly id: string; readonly tool: string }>()
  let calls = 0
  let plan = ''
  /** All messages so far, without the space between their words. */
  let said = ''

  const say = (chunk: Chunk | undefined) => {
    if (!chunk) return
    const sessionUpdate = chunk.kind === 'message' ? ('agent_message_chunk' as const) : ('agent_thought_chunk' as const)
    send({ sessionUpdate, content: { type: 'text', text: chunk.text }, messageId: chunk.messageId })
  }
  const note = (severity: NoticeSeverity, title: string) => {
    if (shows.notices) send({ sessionUpdate: 'notice', severity, title: visible(title).slice(0, 500) })
  }
  const planned = (event: Event): boolean => {
    todos.take(event)
    const told = JSON.stringify(todos.list)
    if (told === plan || todos.list.length === 0) return false
    plan = told
    const entries = todos.list
      .filter(({ state }) => state !== 'dropped')
      .map(({ text, state }) => ({
        content: visible(text),
        priority: 'medium' as const,
        status: ({ open: 'pending', going: 'in_progress', done: 'completed', dropped: 'completed' } as const)[state],
      }))
    send({ sessionUpdate: 'plan', entries })
    return true
  }
  const called = (run: string, { callId, tool, input }: EventData<'agent.tool_called'>) => {
    const id = `${task}-${++calls}`
    open.set(`${run} ${callId}`, { id, tool })
    const { rawInput, ...shown } = shownCall(tool, input, folder)
    send({
      sessionUpdate: 'tool_call',
      toolCallId: id,
      status: 'in_progress',
      ...shown,
      ...(isPlain(rawInput) ? { rawInput } : {}),
    })
  }
  const returned = (key: string, { output, isError }: { output: string; isError: boolean }) => {
    const call = open.get(key)
    if (!call) return
    open.delete(key)
    send({
      sessionUpdate: 'tool_call_update',
      toolCallId: call.id,
      status: isError ? 'failed' : 'completed',
      ...(output === '' ? {} : { content: [{ type: 'content', content: { type: 'text', text: output } }] }),
      rawOutput: { output },
    })
  }
  const endCalls = (why: string) => {
    for (const key of [...open.keys()]) returned(key, { output: why, isError: true })
  }

  return {
    growing: (growing) => say(texts.grow(growing)),
    result(text) {
      if (said.includes(squeezed(text))) return
      said += squeezed(text)
      send({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text }, messageId: `${task}-result` })
    },
    openCall: (tool) => [...open.values()].findLast((call) => call.tool === tool)?.id,
    event(event) {
      const run = event.run ?? ''
      const isPlanned = planned(event)
      switch (event.type) {
        case 'agent.message':
          said += squeezed(event.data.text)
          return say(texts.settle(event.run, 'message', event.data.text))
        case 'message.sent':
          return say(texts.settle(undefined, 'message', event.data.text))
        case 'agent.thinking':
          return isPlanned ? undefined : say(texts.settle(event.run, 'thinking', event.data.text))
        case 'agent.tool_called':
          return called(run, event.data)
        case 'agent.tool_returned':
          return returned(`${run} ${event.data.callId}`, event.data)
        case 'check.started': {
          const { number, name, command } = event.data
          return called(run, { callId: `check ${number}`, tool: 'Bash', input: { command, description: `Check: ${name}` } })
        }
        case 'check.ended': {
          const { number, passed, exitCode, why } = event.data
          const output = passed ? 'The check passed.' : `The check failed${exitCode === null ? '' : ` with code ${exitCode}`}.`
          return returned(`${run} check ${number}`, { output: [output, why].filter(Boolean).join(' '), isError: !passed })
        }
        case 'run.ended':
          texts.end()
          return endCalls('The run ended before it returned.')
        case 'run.noted':
          return note('info', event.data.detail)
        case 'agent.retrying':
          return note('warning', `The model is asked again: ${event.data.detail}`)
        case 'agent.compacted':
          return note('info', 'The agent shortened its own memory of the conversation.')
        case 'session.reset':
          return note('warning', `The agent begins a new conversation: ${event.data.why}`)
        case 'task.requeued':
          return note(
            'info',
            `The task goes on (${event.data.why}${event.data.detail === undefined ? '' : `: ${event.data.detail}`}).`,
          )
        case 'task.parked':
          return note('warning', `The task waits until ${event.data.until}${event.data.detail ? `: ${event.data.detail}` : '.'}`)
        case 'workspace.changed':
          return note('info', event.data.summary)
        case 'workspace.quarantined':
          return note(
            'warning',
            `Files that other programs would execute were moved out of the workspace: ${event.data.paths.join(', ')}`,
          )
        case 'artifact.added':
          return note('info', `The agent left the file ${event.data.name}: pawl task artifacts ${task}`)
        case 'permission.decided':
          return event.data.verdict === 'denied' ? note('warning', `Denied: ${event.data.tool}. ${event.data.why}`) : undefined
        default:
          return undefined
      }
    },
  }
}

const squeezed = (text: string) => text.replaceAll(/\s+/g, '')

/** The protocol has any JSON here; what is too large is not worth repeating beside its title. */
const isPlain = (input: unknown) => input !== undefined && JSON.stringify(input).length <= 100_000
