import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { cachedInstall } from '../../test/real-agents/cached-install.ts'
import type { Place } from '../place.ts'

/** Somebody who can be asked for a model. */
export interface Served {
  readonly name: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly streams: boolean
  /** Whose CPU time is told. */
  readonly pid?: number | undefined
}

/** The provider itself: what nobody in between can be faster than. */
export async function startUpstream(place: Place): Promise<string> {
  return (await startOwn(place, 'upstream', [])).url
}

/** What nobody who serves by Node's own HTTP can be cheaper than. */
export async function startBareProxy(place: Place, upstream: string): Promise<Served> {
  const { url, pid } = await startOwn(place, 'bare-proxy', [upstream])
  return { name: 'a bare proxy', url: `${url}/v1/messages`, headers: {}, streams: true, pid }
}

/** A program of this folder that prints where it listens. */
async function startOwn(place: Place, name: string, args: string[]): Promise<{ url: string; pid: number | undefined }> {
  const child = start(place, name, [join(import.meta.dirname, `${name}.ts`), ...args], { isHeard: true })
  for await (const url of createInterface({ input: child.stdout! })) return { url, pid: child.pid }
  throw new Error(`The ${name} did not start.`)
}

/** Other gateways in front of the same provider, each as its makers start it. */
export async function startPeers(place: Place, upstream: string): Promise<Served[]> {
  const folder = await cachedInstall({
    from: join(import.meta.dirname, 'peers'),
    cache: join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'pawl-bench-peers'),
    what: 'other gateways to measure beside ours (40 MB)',
  })
  const modules = join(folder, 'node_modules')
  return [await startPortkey(place, modules, upstream), await startRouter(place, modules, upstream)]
}

async function startPortkey(place: Place, modules: string, upstream: string): Promise<Served> {
  const port = await freePort()
  const program = join(modules, '@portkey-ai/gateway/build/start-server.js')
  const { pid } = start(place, 'portkey', [program, '--headless', `--port=${port}`])
  const url = `http://127.0.0.1:${port}`
  const headers = { 'x-portkey-provider': 'anthropic', 'x-portkey-custom-host': `${upstream}/v1`, 'x-api-key': 'none' }
  await answering(`${url}/v1/messages`, headers, place, 'portkey')
  // Its streams fail on this Node: it changes headers that may not be changed there.
  return { name: 'Portkey', url: `${url}/v1/messages`, headers, streams: false, pid }
}

async function startRouter(place: Place, modules: string, upstream: string): Promise<Served> {
  const port = await freePort()
  const home = join(place.folder, 'router')
  await mkdir(join(home, '.claude-code-router'), { recursive: true })
  const provider = {
    name: 'bench',
    api_base_url: `${upstream}/v1/messages`,
    api_key: 'none',
    models: ['bench-model'],
    transformer: { use: ['Anthropic'] },
  }
  const settings = { PORT: port, LOG: false, Providers: [provider], Router: { default: 'bench,bench-model' } }
  await writeFile(join(home, '.claude-code-router', 'config.json'), JSON.stringify(settings))
  const { pid } = start(place, 'router', [join(modules, '@musistudio/claude-code-router/dist/cli.js'), 'start'], {
    env: { HOME: home },
  })
  const url = `http://127.0.0.1:${port}/v1/messages`
  const headers = { 'x-api-key': 'none' }
  await answering(url, headers, place, 'router')
  return { name: 'claude-code-router', url, headers, streams: true, pid }
}

function start(
  place: Place,
  name: string,
  args: string[],
  { env = {}, isHeard = false }: { env?: Record<string, string>; isHeard?: boolean } = {},
) {
  const log = openSync(join(place.folder, `${name}.log`), 'a')
  const child = spawn(process.execPath, args, {
    cwd: place.folder,
    env: { PATH: process.env.PATH, HOME: place.folder, NODE_ENV: 'production', ...env },
    stdio: ['ignore', isHeard ? 'pipe' : log, log],
  })
  closeSync(log)
  place.onEnd(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const gone = once(child, 'exit')
    child.kill('SIGKILL')
    await gone
  })
  return child
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}

/** Resolves when it has answered well once. */
async function answering(url: string, headers: Record<string, string>, place: Place, name: string): Promise<void> {
  const body = JSON.stringify({ model: 'bench-model', max_tokens: 16, messages: [{ role: 'user', content: 'Hello' }] })
  let said = 'nothing'
  for (const until = performance.now() + 20_000; performance.now() < until; ) {
    try {
      const more = { 'content-type': 'application/json', 'anthropic-version': '2023-06-01' }
      const answer = await fetch(url, { method: 'POST', headers: { ...headers, ...more }, body })
      said = `${answer.status}: ${(await answer.text()).slice(0, 500)}`
      if (answer.ok) return
    } catch (error) {
      said = String(error)
    }
    await new Promise((again) => setTimeout(again, 200))
  }
  const log = await readFile(join(place.folder, `${name}.log`), 'utf8')
  throw new Error(`${name} does not serve; it said ${said}\n${log.slice(-2_000)}`)
}
