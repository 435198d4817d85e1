import { chmod, mkdir, realpath, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type McpServer, methods } from '@agentclientprotocol/sdk'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import type { TaskView } from '../../src/domain/view/view.ts'
import { json, pawl, serve } from '../e2e/pawl.ts'
import { makeHome } from '../engine/ready-database.ts'
import { type HttpPeer, startHttpPeer } from '../mcp-servers/http-server.ts'
import { openEditor, type TestEditor } from './editor.ts'

const fakeAgent = join(import.meta.dirname, '../fake-agent/fake-agent.js')
const program = join(import.meta.dirname, '../mcp-servers/stdio-server.js')
const token = 'library-token-0123456789'
const patient = { timeout: 120_000 }

let home: Awaited<ReturnType<typeof makeHome>>
let folder: string
let library: HttpPeer
let daemon: Awaited<ReturnType<typeof serve>>
const editors: TestEditor[] = []
beforeAll(async () => {
  home = await makeHome()
  library = await startHttpPeer({ token })
  folder = join(await realpath(home.path), 'project')
  await mkdir(folder)
  await chmod(folder, 0o777)
  const fake = { adapter: 'custom', command: [fakeAgent], options: { mcp: { path: '.agent/mcp.json' } } }
  const settings = {
    defaultAgent: 'fake',
    agents: { fake, bare: { ...fake, mcpServers: 'none' }, held: { ...fake, mcpServers: ['ours'] } },
    profiles: { closed: { extends: 'guarded', mcpServers: 'none' } },
    mcpServers: { ours: { command: process.execPath, args: [program] } },
  }
  await writeFile(join(home.path, 'config.yaml'), JSON.stringify(settings), { mode: 0o600 })
  daemon = await serve(home.path)
  const set = await pawl(home.path, ['secret', 'set', 'LIBRARY'], { stdin: token })
  expect(set.code, set.stderr).toBe(0)
}, 120_000)
afterEach(async () => {
  for (const editor of editors.splice(0)) {
    await editor.close()
    expect(editor.faults(), editor.stderr()).toEqual([])
  }
})
afterAll(async () => {
  daemon.process.kill('SIGTERM')
  await daemon.ended
  await library.stop()
  await home.remove()
})

async function open(args: readonly string[] = []): Promise<TestEditor> {
  const editor = await openEditor(home.path, { args })
  editors.push(editor)
  return editor
}
const stdio = (name: string, changes: Partial<Extract<McpServer, { command: string }>> = {}): McpServer => ({
  ...{ name, command: process.execPath, args: [program], env: [] },
  ...changes,
})
const http = (name: string, authorization: string): McpServer => ({
  ...{ type: 'http', name, url: library.url, headers: [{ name: 'Authorization', value: authorization }] },
})
const begin = (editor: TestEditor, mcpServers: McpServer[]) =>
  editor.agent.request(methods.agent.session.new, { cwd: folder, mcpServers })
const refusal = (asked: Promise<unknown>) =>
  asked.then(
    () => 'it was taken',
    (error: unknown) => error,
  )

it(
  'servers that an editor brings are given to the agent as those of the settings are, and to no more than the profile has',
  patient,
  async () => {
    const editor = await open()
    expect(editor.about.agentCapabilities?.mcpCapabilities).toEqual({ http: true, sse: false })
    const brought = [
      stdio('my notes'),
      stdio('ours', { args: [program, '--broken'] }),
      http('library', `Bearer \${secret:LIBRARY}`),
      http('leaky', `Bearer ${token}`),
      stdio('pawl'),
    ]
    const { sessionId } = await begin(editor, brought)
    const steps = [
      { mcp: { server: 'my-notes', tool: 'whoami' } },
      // The owner's own of that name works; the editor's would end at once.
      { mcp: { server: 'ours', tool: 'echo', input: { text: 'of the settings' } } },
      { mcp: { server: 'library', tool: 'find', input: { title: 'Emma' } } },
    ]
    expect(await editor.prompt(sessionId, steps), editor.stderr()).toMatchObject({ stopReason: 'end_turn' })
    const said = editor.text(sessionId).join('\n')
    expect(said).toContain('ours: you said: of the settings')
    expect(said).toContain('library: found: Emma; the token was [redacted')
    const whoami = JSON.parse(/my-notes: (\{.*\})/.exec(said)![1]!) as { uid: number; cwd: string }
    expect(whoami.cwd).toBe(folder)
    expect(whoami.uid).not.toBe(0)
    // What cannot be is left out with its reason; nothing of its key is repeated.
    expect(editor.stderr()).toMatch(/MCP server "leaky" is not given to the agent: headers must not hold a key.*pawl secret set/)
    expect(editor.stderr()).toMatch(/MCP server "pawl" is not given to the agent: its name must be another/)
    expect(editor.stderr()).not.toContain(token)

    // Loaded again, with other servers and in a profile that has none.
    const again = await open()
    const { modes } = await again.agent.request(methods.agent.session.load, {
      sessionId,
      cwd: folder,
      mcpServers: [stdio('later')],
    })
    expect(modes!.currentModeId).toBe('guarded')
    await again.prompt(sessionId, [{ mcp: { server: 'later', tool: 'echo', input: { text: 'again' } } }])
    expect(again.text(sessionId).join('\n')).toContain('later: you said: again')
    await again.agent.request(methods.agent.session.setMode, { sessionId, modeId: 'closed' })
    await again.prompt(sessionId, [{ speak: 'nothing to call' }])
    const { tasks } = json<{ tasks: TaskView[] }>(await pawl(home.path, ['sessions', 'show', sessionId, '--json']))
    expect(tasks).toHaveLength(3)
    const events = await pawl(home.path, ['logs', tasks[0]!.id, '--json'])
    expect(events.stdout).not.toContain('mcp_server_failed')
  },
)

it('a server of a kind that was not offered, or two of one name, is refused by name', patient, async () => {
  const editor = await open()
  expect(
    await refusal(begin(editor, [{ type: 'sse', name: 'older', url: 'http://127.0.0.1:9/sse', headers: [] }])),
  ).toMatchObject({
    code: -32602,
    message: expect.stringContaining('The MCP server "older" is of the kind "sse"'),
  })
  expect(await refusal(begin(editor, [stdio('my notes'), stdio('my-notes')]))).toMatchObject({
    code: -32602,
    message: expect.stringContaining('are called "my-notes" here'),
  })
  const demo = await open(['--agent', 'demo'])
  const { sessionId } = await begin(demo, [stdio('notes')])
  expect(await demo.prompt(sessionId, 'x --no-question')).toMatchObject({ stopReason: 'end_turn' })
  // It gives its answer only at the end; who loads the conversation reads it there too.
  expect(demo.text(sessionId).at(-1)).toContain('You asked: x --no-question')
  const later = await open()
  await later.load(sessionId, folder)
  expect(later.text(sessionId)).toEqual(demo.text(sessionId))
  expect(demo.stderr()).toContain('"notes" is not given to the agent: the program of the agent "demo" speaks no MCP.')
})

it(
  'two prompts at once are two tasks, one after the other; what is said to a session that is not open harms nobody',
  patient,
  async () => {
    const editor = await open()
    const { sessionId } = await editor.newSession(folder)
    await editor.agent.notify(methods.agent.session.cancel, { sessionId: 's_000000000000000000' })
    expect(await refusal(editor.prompt('s_000000000000000000', 'x'))).toMatchObject({ code: -32002 })
    expect(await refusal(editor.prompt('../../etc/passwd', 'x'))).toMatchObject({ code: -32002 })
    const both = await Promise.all([
      editor.prompt(sessionId, [{ appendLine: { file: 'order', text: 'begins' } }, { sleep: 200 }, { speak: 'one' }]),
      editor.prompt(sessionId, [{ appendLine: { file: 'order', text: 'begins' } }, { sleep: 200 }, { speak: 'two' }]),
    ])
    expect(both).toMatchObject([{ stopReason: 'end_turn' }, { stopReason: 'end_turn' }])
    expect(editor.text(sessionId).toSorted()).toEqual(['one', 'two'])
    const { tasks } = json<{ tasks: TaskView[] }>(await pawl(home.path, ['sessions', 'show', sessionId, '--json']))
    const runs = await Promise.all(
      tasks.map(async ({ id }) => json<TaskView>(await pawl(home.path, ['task', 'show', id, '--json'])).runs[0]!),
    )
    const [first, second] = runs.toSorted((a, b) => a.startedAt!.localeCompare(b.startedAt!))
    expect(first!.endedAt! <= second!.startedAt!).toBe(true)
  },
)

it('a mode that was chosen and not used yet is there when the process has died', patient, async () => {
  const first = await openEditor(home.path)
  const { sessionId } = await first.newSession(folder)
  await first.prompt(sessionId, [{ speak: 'one' }])
  await first.agent.request(methods.agent.session.setMode, { sessionId, modeId: 'strict' })
  await first.agent.request(methods.agent.session.setMode, { sessionId, modeId: 'closed' })
  await first.kill()

  const second = await open()
  expect(await second.load(sessionId, folder)).toMatchObject({ modes: { currentModeId: 'closed' } })
  await second.prompt(sessionId, [{ speak: 'two' }])
  const profiles = async () => {
    const { tasks } = json<{ tasks: TaskView[] }>(await pawl(home.path, ['sessions', 'show', sessionId, '--json']))
    return Promise.all(
      tasks.map(async ({ id }) => json<TaskView>(await pawl(home.path, ['task', 'show', id, '--json'])).settings.profile),
    )
  }
  expect(await profiles()).toEqual(['closed', 'guarded'])
  // What was done last counts for more than what was chosen before.
  expect((await pawl(home.path, ['run', '--session', sessionId, '--profile', 'guarded', '[{"speak":"three"}]'])).code).toBe(0)
  const third = await open()
  expect(await third.load(sessionId, folder)).toMatchObject({ modes: { currentModeId: 'guarded' } })
  // One that is chosen before anything was said, too.
  const fresh = await third.newSession(folder)
  await third.agent.request(methods.agent.session.setMode, { sessionId: fresh.sessionId, modeId: 'strict' })
  const fourth = await open()
  expect(await fourth.load(fresh.sessionId, folder)).toMatchObject({ modes: { currentModeId: 'strict' } })
})

it('an agent whose settings say which servers it has gets none of the editor, and the editor is told so', patient, async () => {
  const callMine = { mcp: { server: 'ours', tool: 'echo', input: { text: 'still mine' } } }
  const callTheirs = { mcp: { server: 'my-notes', tool: 'whoami' } }
  for (const [agent, steps] of [
    ['bare', [callTheirs]],
    ['held', [callMine, callTheirs]],
  ] as const) {
    const editor = await open(['--agent', agent])
    const { sessionId } = await begin(editor, [stdio('my notes')])
    // The program ends when it is to call a server that it does not have.
    expect(await refusal(editor.prompt(sessionId, [...steps]))).toMatchObject({ message: expect.stringContaining('Exit code 1') })
    const said = editor.text(sessionId).join('\n')
    expect(said).not.toMatch(/my-notes: \{/)
    if (agent === 'held') expect(said).toContain('ours: you said: still mine')
    expect(editor.stderr()).toContain(`MCP server "my-notes" is not given to the agent: agents.${agent}.mcpServers`)
  }
})
