import { asObject, type Fields } from '../base/object.ts'
import type { Event } from './event.ts'

export interface Todo {
  readonly id?: string | undefined
  readonly text: string
  readonly state: 'open' | 'going' | 'done' | 'dropped'
}

/** What the agent means to do, as it keeps it in one of its tools; the list as it was told last. */
export class TodoKeeper {
  list: readonly Todo[] = []
  #made = 0

  take(event: Event): void {
    // A client that has no tool for it is told of the plan as a thought.
    if (event.type === 'agent.thinking') this.list = planOf(event.data.text) ?? this.list
    // A subagent's own list is not the task's.
    if (event.type !== 'agent.tool_called' || event.data.parent !== undefined) return
    const input = asObject(event.data.input)
    const tool = (event.data.tool.split(/__|\./).at(-1) ?? '').replaceAll('_', '').toLowerCase()
    if (!input) return
    if (whole.has(tool)) this.list = listOf(input) ?? this.list
    else if (tool === 'taskcreate') this.#create(input)
    else if (tool === 'taskupdate') this.#update(input)
  }

  #create(input: Fields): void {
    const text = textIn(input, 'subject', 'content', 'description')
    this.#made++
    if (text !== undefined) this.list = [...this.list, { id: String(this.#made), text, state: stateOf(input.status) }]
  }

  #update(input: Fields): void {
    const id = String(input.taskId ?? input.id ?? '')
    if (input.status === 'deleted') this.list = this.list.filter((todo) => todo.id !== id)
    const told = { text: textIn(input, 'subject'), state: input.status === undefined ? undefined : stateOf(input.status) }
    this.list = this.list.map((todo) =>
      todo.id === id ? { ...todo, text: told.text ?? todo.text, state: told.state ?? todo.state } : todo,
    )
  }
}

/** Tools that take the whole list each time. */
const whole = new Set(['todowrite', 'writetodos', 'updateplan', 'updatetodos'])

function listOf(input: Fields): Todo[] | undefined {
  const given = [input.todos, input.plan, input.items, input.entries].find(Array.isArray)
  return given?.flatMap((one: unknown) => {
    const fields = asObject(one)
    const text = typeof one === 'string' ? one : fields && textIn(fields, 'content', 'description', 'step', 'text', 'title')
    return text === undefined ? [] : [{ text, state: stateOf(fields?.status) }]
  })
}

function planOf(text: string): Todo[] | undefined {
  if (!text.startsWith('Plan:\n- [')) return undefined
  return [...text.matchAll(/^- \[([x> ])\] (.*)$/gm)].map(([, sign, line]) => ({
    text: line ?? '',
    state: sign === 'x' ? 'done' : sign === '>' ? 'going' : 'open',
  }))
}

const stateOf = (status: unknown): Todo['state'] =>
  status === 'completed' || status === 'done'
    ? 'done'
    : status === 'in_progress' || status === 'inProgress'
      ? 'going'
      : status === 'cancelled'
        ? 'dropped'
        : 'open'

const textIn = (fields: Fields, ...names: string[]) =>
  names.map((name) => fields[name]).find((value): value is string => typeof value === 'string')
