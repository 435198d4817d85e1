import { asObject, type Fields } from '../../domain/base/object.ts'
import { list, text } from '../shared/fields.ts'
import { isShallow } from '../shared/json.ts'
import type { Step } from '../shared/plan.ts'
import { cut, pieceChars } from '../shared/text.ts'

/** One thing of a turn, as both transports tell it: app-server in camelCase, exec in snake_case. */
export type Item =
  | { readonly kind: 'message'; readonly text: string; readonly isFinal: boolean }
  | { readonly kind: 'thinking'; readonly text: string }
  | { readonly kind: 'tool'; readonly call: ToolCall }
  | { readonly kind: 'plan'; readonly steps: readonly Step[] }
  | { readonly kind: 'compaction' }
  /** A warning: exec tells of it as if it were a thing of the turn. */
  | { readonly kind: 'nothing' }

export interface ToolCall {
  readonly callId: string
  readonly tool: string
  readonly input: Readonly<Record<string, unknown>>
  readonly output: string
  readonly isError: boolean
}

/** Undefined: not understood. */
export function readItem(value: unknown): Item | undefined {
  const raw = asObject(value)
  if (!raw || typeof raw.type !== 'string') return undefined
  const name = snakeNames.get(raw.type) ?? raw.type
  if (name === 'agentMessage') return { kind: 'message', text: text(raw.text) ?? '', isFinal: raw.phase !== 'commentary' }
  if (name === 'reasoning') return { kind: 'thinking', text: thought(raw) }
  if (name === 'plan') return { kind: 'thinking', text: text(raw.text) ?? '' }
  if (name === 'todoList') return { kind: 'plan', steps: readSteps(raw.items) }
  if (name === 'contextCompaction') return { kind: 'compaction' }
  if (silent.has(name)) return { kind: 'nothing' }
  const read = tools.get(name)
  if (!read) return undefined
  const { tool, input, output } = read(raw)
  const failed = ['failed', 'declined'].includes(text(raw.status) ?? '') || raw.success === false
  const code = raw.exitCode ?? raw.exit_code
  const exitCode = typeof code === 'number' ? code : 0
  const said = output || (raw.status === 'declined' ? 'declined' : exitCode === 0 ? '' : `exit code ${exitCode}`)
  return {
    kind: 'tool',
    call: {
      callId: cut(text(raw.id) ?? '', 1024),
      tool: cut(tool, 1024),
      input,
      output: cut(said, pieceChars),
      isError: failed || exitCode !== 0 || present(raw.error),
    },
  }
}

const silent = new Set([
  'userMessage',
  'hookPrompt',
  'functionCallOutput',
  'subAgentActivity',
  'enteredReviewMode',
  'exitedReviewMode',
  'error',
])

/** The names by which permission is asked for are the same. */
export const shellTool = 'shell'
export const patchTool = 'apply_patch'

const readers: Record<string, (raw: Fields) => { tool: string; input: Fields; output: string }> = {
  commandExecution: (raw) => ({
    tool: shellTool,
    input: present(raw.cwd) ? { command: raw.command, cwd: raw.cwd } : { command: raw.command },
    output: text(raw.aggregatedOutput ?? raw.aggregated_output) ?? '',
  }),
  fileChange: (raw) => ({ tool: patchTool, input: { changes: raw.changes }, output: text(raw.status) ?? '' }),
  mcpToolCall: (raw) => ({
    tool: `${text(raw.server) ?? ''}.${text(raw.tool) ?? ''}`,
    input: asObject(raw.arguments) ?? { arguments: raw.arguments },
    output: text(asObject(raw.error)?.message) ?? contentText(asObject(raw.result)?.content),
  }),
  dynamicToolCall: (raw) => ({
    tool: text(raw.tool) ?? '',
    input: asObject(raw.arguments) ?? { arguments: raw.arguments },
    output: contentText(raw.contentItems),
  }),
  webSearch: (raw) => ({ tool: 'web_search', input: { query: raw.query }, output: '' }),
  imageView: (raw) => ({ tool: 'view_image', input: { path: raw.path }, output: '' }),
  imageGeneration: (raw) => ({ tool: 'generate_image', input: { prompt: raw.revisedPrompt }, output: text(raw.savedPath) ?? '' }),
  collabAgentToolCall: (raw) => ({ tool: `agents.${text(raw.tool) ?? ''}`, input: { prompt: raw.prompt }, output: '' }),
  collabToolCall: (raw) => ({ tool: `agents.${text(raw.tool) ?? ''}`, input: { prompt: raw.prompt }, output: '' }),
  sleep: (raw) => ({ tool: 'sleep', input: { durationMs: raw.durationMs }, output: '' }),
}
const tools = new Map(Object.entries(readers))

const snakeNames = new Map(
  ['agentMessage', 'contextCompaction', 'todoList', ...silent, ...tools.keys()].map((name) => [
    name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    name,
  ]),
)

/** app-server has words for how far a step is, exec only says whether it is done. */
export const readSteps = (value: unknown): Step[] =>
  list(value).map((one) => {
    const { step, text: said, status, completed } = asObject(one) ?? {}
    return { text: text(step ?? said) ?? '', status: completed === true ? 'completed' : status }
  })

function thought(raw: Fields): string {
  const parts = [raw.summary, raw.content].find((list) => Array.isArray(list) && list.length > 0)
  return Array.isArray(parts) ? parts.filter((part) => typeof part === 'string').join('\n\n') : (text(raw.text) ?? '')
}

/** What an MCP tool gave back: its texts, and anything else as JSON. */
function contentText(content: unknown): string {
  if (!Array.isArray(content) || !isShallow(content, 32)) return ''
  return content.map((part) => text(asObject(part)?.text) ?? JSON.stringify(part)).join('\n')
}

const present = (value: unknown) => value !== undefined && value !== null
