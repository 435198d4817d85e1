import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { expect, it } from 'vitest'
import { bundle } from '../bundle.ts'
import { pawl, serve } from '../e2e/pawl.ts'
import { makeHome } from '../engine/home.ts'
import { accepted } from './peer.ts'

const { pawl: bin } = await bundle()

/** Starts `pawl mcp` as any program would that was told of it, with the official client. */
async function started(home: string, era: 'legacy' | { pin: string }) {
  const client = new Client(
    { name: 'foreign', version: '1.0.0' },
    { capabilities: { elicitation: {} }, versionNegotiation: { mode: era } },
  )
  client.setRequestHandler('elicitation/create', ({ params }) => accepted(params))
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [bin, 'mcp', '--workspace', await mkdtemp(join(tmpdir(), 'pawl-mcp-work-'))],
    env: { PATH: process.env.PATH ?? '', HOME: home, PAWL_HOME: home },
    stderr: 'pipe',
  })
  // Whatever is not of the protocol on standard output arrives here.
  const errors: Error[] = []
  transport.onerror = (error) => void errors.push(error)
  await client.connect(transport, { timeout: 60_000 })
  return { client, errors }
}

const run = { name: 'run_task', arguments: { prompt: 'look around', agent: 'demo', waitSeconds: 60 } }
interface Shown {
  task: { id: string; state: string }
}

it('over stdio both eras work, without a daemon and with one, and nothing else is on standard output', {
  timeout: 120_000,
}, async () => {
  const home = await makeHome('pawl-mcp-stdio-')
  try {
    const alone = await started(home.path, { pin: '2026-07-28' })
    const first = await alone.client.callTool(run, { timeout: 90_000 })
    expect(first.structuredContent).toMatchObject({ done: true, task: { state: 'completed' } })
    expect(alone.errors).toEqual([])
    await alone.client.close()

    const daemon = await serve(home.path)
    const beside = await started(home.path, 'legacy')
    const { id } = (first.structuredContent as unknown as Shown).task
    const found = await beside.client.callTool({ name: 'get_task', arguments: { task: id } })
    expect(found.structuredContent).toMatchObject({ task: { id, state: 'completed' } })
    const made = await beside.client.callTool({ name: 'create_task', arguments: { prompt: 'x --no-question', agent: 'demo' } })
    const { task } = made.structuredContent as unknown as Shown
    await beside.client.close()
    expect(beside.errors).toEqual([])
    // The daemon goes on with it: nothing depends on the program that asked.
    const waited = await pawl(home.path, ['task', 'wait', task.id, '--json'])
    expect(waited.code).toBe(0)
    daemon.process.kill('SIGTERM')
    await daemon.ended
  } finally {
    await home.remove()
  }
})
