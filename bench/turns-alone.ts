import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

export interface Alone {
  readonly program: string
  readonly home: string
  readonly workspace: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly prompt: string
}

export interface TurnsAlone {
  readonly firstMs: number
  readonly secondMs: number
}

/** As long as ours has between its turns. */
const betweenMs = 20

/** A first and a second turn of Claude Code alone, with a tool over its pipe: as it is driven, without walls, door, database and daemon. */
export async function claudeAlone(options: Alone): Promise<TurnsAlone> {
  const { program, home, workspace, prompt } = options
  await mkdir(join(home, 'tmp'), { recursive: true })
  const servers = { mcpServers: { tools: { type: 'sdk', name: 'tools' } } }
  const lines = ['--output-format=stream-json', '--input-format=stream-json', '--verbose', '--permission-prompt-tool=stdio']
  const args = [
    '-p',
    ...lines,
    '--model=claude-sonnet-4-5',
    '--setting-sources=',
    '--strict-mcp-config',
    `--mcp-config=${JSON.stringify(servers)}`,
  ]
  const since = performance.now()
  const child = spawn(program, [...args, '--allowedTools=mcp__tools'], {
    cwd: workspace,
    env: { ...options.env, HOME: home, TMPDIR: join(home, 'tmp') },
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  const exited = once(child, 'exit')
  let turn = Promise.withResolvers<number>()
  createInterface({ input: child.stdout }).on('line', (line) => {
    const said = JSON.parse(line) as { type: string; request_id: string; request: { message: ToolMessage } }
    if (said.type === 'control_request') send(toolAnswer(said.request_id, said.request.message))
    if (said.type === 'result') turn.resolve(performance.now())
  })
  const send = (message: object) => void child.stdin.write(`${JSON.stringify(message)}\n`)
  const take = () => {
    turn = Promise.withResolvers()
    send({ type: 'user', message: { role: 'user', content: prompt } })
    return turn.promise
  }
  try {
    const firstMs = (await take()) - since
    await new Promise((rested) => setTimeout(rested, betweenMs))
    const again = performance.now()
    return { firstMs, secondMs: (await take()) - again }
  } finally {
    child.kill('SIGKILL')
    await exited
  }
}

interface ToolMessage {
  readonly id?: number
  readonly method: string
  readonly params?: { readonly protocolVersion?: string }
}

/** One tool, which nobody calls. */
function toolAnswer(request_id: string, { id = 0, method, params }: ToolMessage): object {
  const { protocolVersion } = params ?? {}
  const results: Record<string, object> = {
    initialize: { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'tools', version: '1' } },
    'tools/list': { tools: [{ name: 'nothing', description: 'Does nothing.', inputSchema: { type: 'object' } }] },
  }
  const mcp_response = { jsonrpc: '2.0', id, result: results[method] ?? {} }
  return { type: 'control_response', response: { subtype: 'success', request_id, response: { mcp_response } } }
}

/** A first and a second turn of `codex app-server` alone, without walls, door, database and daemon: nobody who drives it is faster. */
export async function codexAlone(options: Alone & { readonly settings: string }): Promise<TurnsAlone> {
  const { program, home, workspace, prompt } = options
  await mkdir(join(home, '.codex'), { recursive: true })
  await writeFile(join(home, '.codex', 'config.toml'), options.settings)
  const since = performance.now()
  const child = spawn(program, ['app-server', '--disable', 'plugins'], {
    cwd: workspace,
    env: { ...options.env, HOME: home, CODEX_HOME: join(home, '.codex') },
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  const exited = once(child, 'exit')
  const replies = new Map<number, (result: Reply) => void>()
  let turn = Promise.withResolvers<number>()
  createInterface({ input: child.stdout }).on('line', (line) => {
    const { id, method, result } = JSON.parse(line) as { id?: number; method?: string; result?: Reply }
    if (method === 'turn/completed') turn.resolve(performance.now())
    else if (id !== undefined && method === undefined) replies.get(id)?.(result ?? {})
  })
  const send = (message: object) => child.stdin.write(`${JSON.stringify(message)}\n`)
  const ask = (method: string, params: object) =>
    new Promise<Reply>((done) => {
      const id = replies.size + 1
      replies.set(id, done)
      send({ id, method, params })
    })
  try {
    await ask('initialize', { clientInfo: { name: 'bench', version: '1' } })
    send({ method: 'initialized' })
    const { thread } = await ask('thread/start', { cwd: workspace, approvalPolicy: 'never', sandbox: 'danger-full-access' })
    const input = [{ type: 'text', text: prompt, text_elements: [] }]
    const take = async () => {
      turn = Promise.withResolvers()
      await ask('turn/start', { threadId: thread?.id, input })
      return turn.promise
    }
    const firstMs = (await take()) - since
    await new Promise((rested) => setTimeout(rested, betweenMs))
    const again = performance.now()
    return { firstMs, secondMs: (await take()) - again }
  } finally {
    child.kill('SIGKILL')
    await exited
  }
}

type Reply = { readonly thread?: { readonly id: string } }
