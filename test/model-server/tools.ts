import type { OfferedTool } from './conversation.ts'
import type { ToolCall } from './reply.ts'
import type { ScriptedCall } from './scenario.ts'

type NamedCall = Omit<ToolCall, 'id'>
type Args<T extends Kind> = Extract<ScriptedCall, { tool: T }>['args']
type Kind = 'shell' | 'write' | 'read' | 'ask'

/** The call a program understands, for a call a scenario asks for: by the tools the request offers, else by the format's usual program. */
export function callFor(call: ScriptedCall, tools: readonly OfferedTool[], wire: string): NamedCall {
  if (isKind(call, 'shell')) return known(shell, call.args, tools, wire)
  if (isKind(call, 'write')) return known(write, call.args, tools, wire)
  if (isKind(call, 'read')) return known(read, call.args, tools, wire)
  if (isKind(call, 'ask')) return known(ask, call.args, tools, wire)
  const named = /^mcp:([\w-]+)\/([\w-]+)$/.exec(call.tool)
  if (named) return { ...mcpTool(named[1]!, named[2]!, tools, wire), args: call.args }
  return { name: call.tool.replace(/^named:/, ''), kind: 'function', args: call.args }
}

/** The tool through which a program takes an answer in a given shape; formats with a field for it have none. */
export const structuredTool = (tools: readonly OfferedTool[]) => tools.find((tool) => tool.name === 'StructuredOutput')

interface Spelling<T extends Kind> {
  readonly name: string
  readonly args: (args: Args<T>) => Record<string, unknown>
  /** The format whose usual program spells it so, for a request that offers none of the spellings. */
  readonly usualIn?: readonly string[]
}

const shell: readonly Spelling<'shell'>[] = [
  { name: 'Bash', args: ({ command }) => ({ command, description: 'Scripted command' }), usualIn: ['anthropic'] },
  { name: 'exec_command', args: ({ command }) => ({ cmd: command }), usualIn: ['openai-responses'] },
  { name: 'shell_command', args: ({ command }) => ({ command }) },
  { name: 'shell', args: ({ command }) => ({ command: ['bash', '-lc', command] }) },
  { name: 'local_shell', args: ({ command }) => ({ command: ['bash', '-lc', command], env: {} }) },
  {
    name: 'run_shell_command',
    args: ({ command }) => ({ command, description: 'Scripted command', is_background: false }),
    usualIn: ['gemini'],
  },
  { name: 'bash', args: ({ command }) => ({ command, description: 'Scripted command' }), usualIn: ['openai-chat', 'ollama'] },
]

// Codex has no tool that writes or reads a plain file: it does both in the shell.
const inShell = (name: string, command: string) => shell.find((spelling) => spelling.name === name)!.args({ command })
const shellNames = ['exec_command', 'shell_command', 'shell', 'local_shell']
const quote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`

const write: readonly Spelling<'write'>[] = [
  { name: 'Write', args: ({ path, content }) => ({ file_path: path, content }), usualIn: ['anthropic'] },
  { name: 'write_file', args: ({ path, content }) => ({ file_path: path, content }), usualIn: ['gemini'] },
  { name: 'write', args: ({ path, content }) => ({ filePath: path, content }), usualIn: ['openai-chat', 'ollama'] },
  ...shellNames.map((name) => ({
    name,
    args: ({ path, content }: Args<'write'>) => inShell(name, `printf %s ${quote(content)} > ${quote(path)}`),
    ...(name === 'exec_command' ? { usualIn: ['openai-responses'] } : {}),
  })),
]

const read: readonly Spelling<'read'>[] = [
  { name: 'Read', args: ({ path }) => ({ file_path: path }), usualIn: ['anthropic'] },
  { name: 'read_file', args: ({ path }) => ({ file_path: path }), usualIn: ['gemini'] },
  { name: 'read', args: ({ path }) => ({ filePath: path }), usualIn: ['openai-chat', 'ollama'] },
  ...shellNames.map((name) => ({
    name,
    args: ({ path }: Args<'read'>) => inShell(name, `cat ${quote(path)}`),
    ...(name === 'exec_command' ? { usualIn: ['openai-responses'] } : {}),
  })),
]

const choices = (options: readonly string[]) => options.map((label) => ({ label, description: `The answer ${label}` }))

const ask: readonly Spelling<'ask'>[] = [
  {
    name: 'AskUserQuestion',
    args: ({ question, header, options }) => ({
      questions: [{ question, header, options: choices(options), multiSelect: false }],
    }),
    usualIn: ['anthropic'],
  },
  {
    name: 'request_user_input',
    args: ({ question, header, options }) => ({ questions: [{ id: 'question', header, question, options: choices(options) }] }),
    usualIn: ['openai-responses'],
  },
  {
    name: 'ask_user',
    args: ({ question, header, options }) => ({ questions: [{ question, header, type: 'choice', options: choices(options) }] }),
    usualIn: ['gemini'],
  },
  {
    name: 'question',
    args: ({ question, header, options }) => ({ questions: [{ question, header, options: choices(options) }] }),
    usualIn: ['openai-chat', 'ollama'],
  },
]

function known<T extends Kind>(
  spellings: readonly Spelling<T>[],
  args: Args<T>,
  tools: readonly OfferedTool[],
  wire: string,
): NamedCall {
  for (const spelling of spellings) {
    const offered = tools.find((tool) => tool.name === spelling.name && tool.namespace === undefined)
    if (offered) return { name: offered.name, kind: offered.kind, args: spelling.args(args) }
  }
  const usual = spellings.find((spelling) => spelling.usualIn?.includes(wire)) ?? spellings[0]!
  return { name: usual.name, kind: 'function', args: usual.args(args) }
}

/** Claude Code keeps MCP tools out of the request until they are searched for, and still accepts a call by the full name. */
function mcpTool(server: string, tool: string, tools: readonly OfferedTool[], wire: string): Omit<NamedCall, 'args'> {
  const full = `mcp__${server}__${tool}`
  // One program has only letters, digits and underscores in the names of groups.
  const group = `mcp__${server.replaceAll('-', '_')}`
  const grouped = tools.find((offered) => offered.name === tool && offered.namespace === group)
  if (grouped) return { name: tool, namespace: grouped.namespace!, kind: 'function' }
  // One program has our question under another name.
  const other = tool === 'ask_user' ? [`mcp_${server}_ask_person`] : []
  const names = [full, `mcp_${server}_${tool}`, ...other, `${server}_${tool}`, `${server}__${tool}`]
  const offered = names.find((name) => tools.some((it) => it.name === name))
  return { name: offered ?? (wire === 'gemini' ? names[1]! : full), kind: 'function' }
}

const isKind = <T extends Kind>(call: ScriptedCall, kind: T): call is Extract<ScriptedCall, { tool: T }> => call.tool === kind
