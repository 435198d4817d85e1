/** What a tool's call is about: what a pattern is held against. */
export type ArgumentKind = 'command' | 'path' | 'host' | 'name' | 'whole'

interface Tool {
  /** What programs call the same tool. Compared without regard to case, dashes and underscores. */
  readonly also: readonly string[]
  readonly about: ArgumentKind
  /** Where in the input that is; the first that is there counts. */
  readonly fields: readonly string[]
}

/** The tools that rules can name, under one name each, whatever program brings them. */
const tools = {
  Bash: {
    also: ['shell', 'commandExecution', 'execCommand', 'localShell', 'runShellCommand', 'execute', 'runCommand', 'terminal'],
    about: 'command',
    fields: ['command', 'cmd', 'script'],
  },
  Read: {
    also: ['readFile', 'readManyFiles', 'viewImage', 'view', 'NotebookRead'],
    about: 'path',
    fields: ['file_path', 'path', 'notebook_path', 'absolute_path', 'filePath'],
  },
  ReadDocument: { also: [], about: 'path', fields: ['file_path', 'path'] },
  // All that changes files is one tool to a rule: who forbids writing a file means by whatever means.
  Write: {
    also: ['Edit', 'MultiEdit', 'NotebookEdit', 'writeFile', 'applyPatch', 'fileChange', 'replace', 'patch', 'strReplace'],
    about: 'path',
    fields: ['file_path', 'path', 'notebook_path', 'absolute_path', 'filePath', 'changes'],
  },
  Glob: { also: ['findFiles'], about: 'path', fields: ['path', 'dir_path'] },
  Grep: { also: ['searchFileContent', 'grepSearch'], about: 'path', fields: ['path', 'dir_path'] },
  LS: { also: ['list', 'listDirectory', 'listDir'], about: 'path', fields: ['path', 'dir_path'] },
  WebFetch: { also: ['fetch', 'webFetchTool'], about: 'host', fields: ['url', 'uri'] },
  WebSearch: { also: ['googleWebSearch'], about: 'whole', fields: [] },
  Task: { also: ['Agent', 'invokeAgent'], about: 'name', fields: ['subagent_type', 'agent', 'agent_name'] },
  Skill: { also: ['activateSkill'], about: 'name', fields: ['skill', 'command', 'name'] },
  Plan: {
    also: ['TodoWrite', 'TodoRead', 'updatePlan', 'writeTodos', 'updateTopic', 'ExitPlanMode', 'EnterPlanMode'],
    about: 'whole',
    fields: [],
  },
  AskUserQuestion: { also: ['requestUserInput', 'askUser'], about: 'whole', fields: [] },
} as const satisfies Record<string, Tool>
export type KnownTool = keyof typeof tools

export const knownTools = Object.keys(tools) as KnownTool[]
/** Every name of the table, as it may stand in a rule. */
export const knownNames = Object.entries(tools).flatMap(([name, { also }]) => [name, ...also])

const plain = (name: string) => name.toLowerCase().replace(/[-_ ]/g, '')
const byName = new Map(
  Object.entries(tools).flatMap(([name, { also }]) => [name, ...also].map((each) => [plain(each), name as KnownTool] as const)),
)

export interface ToolName {
  /** The one name under which rules find it. */
  readonly name: string
  /** As the program wrote it, without our own server's prefix: `disabled` may mean one of several that rules treat as one. */
  readonly own: string
  /** Brought by the program itself, not by a server of tools. */
  readonly native: boolean
}

const ourPrefix = 'mcp__pawl__'

/** One name for one tool: our own `mcp__pawl__Read` is Read, `server.tool` is `mcp__server__tool`, and programs' names are looked up. */
export function toolNamed(written: string): ToolName {
  if (written.startsWith(ourPrefix)) {
    const own = written.slice(ourPrefix.length)
    return { name: byName.get(plain(own)) ?? written, own, native: false }
  }
  if (written.startsWith('mcp__')) return { name: written, own: written, native: false }
  const dot = written.indexOf('.')
  if (dot > 0) {
    const name = `mcp__${written.slice(0, dot)}__${written.slice(dot + 1)}`
    return { name, own: name, native: false }
  }
  return { name: byName.get(plain(written)) ?? written, own: written, native: true }
}

export const toolFacts = (name: string): Tool | undefined => (Object.hasOwn(tools, name) ? tools[name as KnownTool] : undefined)

/** Is it that very tool? `Edit` is not `MultiEdit` here, though rules treat them alike; a patch is every one of them. */
export function isSameTool(called: string, named: string): boolean {
  const [one, other] = [plain(toolNamed(called).own), plain(toolNamed(named).own)]
  if (one === other) return true
  const { name } = toolNamed(called)
  return name === toolNamed(named).name && (name !== 'Write' || patches.includes(one))
}
const patches = ['applypatch', 'filechange', 'patch']
