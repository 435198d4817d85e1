import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

/** A first and a second turn of `codex app-server` alone, without walls, door, database and daemon: nobody who drives it is faster. */
export async function turnsAlone(options: {
  readonly program: string
  readonly home: string
  readonly workspace: string
  readonly settings: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly prompt: string
}): Promise<{ firstMs: number; secondMs: number }> {
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
    // As long as ours has between its turns.
    await new Promise((rested) => setTimeout(rested, 20))
    const again = performance.now()
    return { firstMs, secondMs: (await take()) - again }
  } finally {
    child.kill('SIGKILL')
    await exited
  }
}

type Reply = { readonly thread?: { readonly id: string } }
