import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { makePlace } from '../../../test/contracts/adapter.ts'
import { launch, type Place } from '../../../test/contracts/launch.ts'
import type { AgentEvent } from '../../domain/event/event.ts'
import type { Permission, PermissionRequest } from '../port.ts'
import { acp } from './agent.ts'

/** A program that can do nothing by itself: it asks its client for each of `calls` and answers with what it got. */
const program = (calls: object[]) => `
const calls = ${JSON.stringify(calls)}
const say = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n')
const update = (update) => say({ method: 'session/update', params: { sessionId: 's', update } })
const answers = []
let terminalId, capabilities
function next() {
  const call = calls[answers.length]
  if (call) return say({ id: 'q' + answers.length, method: call.method, params: { sessionId: 's', terminalId, ...call.params } })
  if (terminalId) {
    update({ sessionUpdate: 'tool_call', toolCallId: 't', title: 'run', kind: 'execute', status: 'in_progress', rawInput: { command: 'run' } })
    update({ sessionUpdate: 'tool_call_update', toolCallId: 't', status: 'completed', content: [{ type: 'terminal', terminalId }] })
  }
  update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: JSON.stringify({ answers, capabilities }) } })
  say({ id: 3, result: { stopReason: 'end_turn' } })
}
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const message = JSON.parse(line)
  if (message.method === 'initialize') {
    capabilities = message.params.clientCapabilities
    say({ id: 1, result: { protocolVersion: 1 } })
  } else if (message.method === 'session/new') say({ id: 2, result: { sessionId: 's' } })
  else if (message.method === 'session/prompt') next()
  else {
    answers.push(message.result ?? message.error)
    terminalId = message.result?.terminalId ?? terminalId
    next()
  }
})
`

const read = (path: string, more: object = {}) => ({ method: 'fs/read_text_file', params: { path, ...more } })
const write = (path: string, content: string) => ({ method: 'fs/write_text_file', params: { path, content } })
const terminal = (method: string, params: object = {}) => ({ method: `terminal/${method}`, params })

test('reads and writes in the workspace, and nowhere else, whatever links lie there', async () => {
  const place = await makePlace()
  const at = (name: string) => join(place.workspace, name)
  const outside = join(place.home, 'secret.txt')
  writeFileSync(outside, 'secret')
  writeFileSync(at('a.txt'), 'one\ntwo\nthree')
  mkdirSync(at('inner'))
  symlinkSync(outside, at('link.txt'))
  symlinkSync(place.home, at('folder'))
  symlinkSync(join(place.home, 'none.txt'), at('nowhere.txt'))
  symlinkSync(at('a.txt'), at('good.txt'))
  const { answers } = await play(place, [
    read(at('a.txt')),
    read(at('a.txt'), { line: 2, limit: 1 }),
    read(at('good.txt'), { limit: 1 }),
    write(at('inner/deep/b.txt'), 'new'),
    read(at('link.txt')),
    read(at('folder/secret.txt')),
    read(at('inner/../../home/secret.txt')),
    write(at('link.txt'), 'x'),
    write(at('folder/secret.txt'), 'x'),
    write(at('nowhere.txt'), 'x'),
    read('a.txt'),
    read(at('missing.txt')),
  ])
  const refused = expect.objectContaining({ message: expect.stringContaining('not in the workspace') })
  expect(answers).toEqual([
    { content: 'one\ntwo\nthree' },
    { content: 'two' },
    { content: 'one' },
    {},
    ...[refused, refused, refused, refused, refused],
    expect.objectContaining({ message: expect.stringContaining('leads nowhere') }),
    expect.objectContaining({ message: 'The path must be absolute.' }),
    expect.objectContaining({ code: -32002 }),
  ])
  expect(readFileSync(at('inner/deep/b.txt'), 'utf8')).toBe('new')
  expect(readFileSync(outside, 'utf8')).toBe('secret')
})

test('runs a command in a terminal, whose output is that of the call', async () => {
  const place = await makePlace()
  const { answers, events } = await play(place, [
    terminal('create', { command: 'printf %s "$X"; exit 3', env: [{ name: 'X', value: 'hello' }] }),
    terminal('wait_for_exit'),
    terminal('output'),
    terminal('release'),
    terminal('output'),
    terminal('create', { command: 'pwd', args: ['-P'], cwd: '/' }),
  ])
  expect(answers).toEqual([
    { terminalId: expect.stringMatching(/^terminal-/) },
    { exitCode: 3, signal: null },
    { output: 'hello', truncated: false, exitStatus: { exitCode: 3, signal: null } },
    {},
    expect.objectContaining({ message: expect.stringContaining('no terminal') }),
    expect.objectContaining({ message: expect.stringContaining('not in the workspace') }),
  ])
  expect(events.find(({ type }) => type === 'agent.tool_returned')?.data).toMatchObject({ output: 'hello' })
})

test('a command that runs on is killed with all that it started, and its output is bounded', async () => {
  const place = await makePlace()
  const { answers } = await play(place, [
    terminal('create', { command: 'yes | head -c 300000; sleep 60 & wait', outputByteLimit: 10 }),
    terminal('kill'),
    terminal('wait_for_exit'),
    terminal('output'),
  ])
  expect(answers[2]).toEqual({ exitCode: null, signal: 'SIGKILL' })
  expect((answers[3] as { output: string }).output.length).toBeLessThanOrEqual(10)
})

test('the rules of the profile decide each of them, and a no comes with its reason', async () => {
  const place = await makePlace()
  const file = join(place.workspace, 'a.txt')
  const { answers, requests } = await play(
    place,
    [
      read(file),
      write(file, 'x'),
      terminal('create', { command: 'rm', args: ['-r', '.'] }),
      terminal('create', { command: 'git', args: ['log'], env: [{ name: 'PATH', value: '.' }] }),
      terminal('create', { command: 'git log', env: [{ name: 'PATH', value: "it's" }] }),
    ],
    { permission: { allow: false, message: 'The profile denies it.' } },
  )
  expect(requests).toEqual([
    { tool: 'Read', input: { path: file } },
    { tool: 'Write', input: { path: file, content: 'x' } },
    { tool: 'execute', input: { command: ['rm', '-r', '.'] } },
    { tool: 'execute', input: { command: ['env', 'PATH=.', 'git', 'log'] } },
    { tool: 'execute', input: { command: "export PATH='it'\\''s'; git log" } },
  ])
  expect(answers).toEqual(Array(5).fill({ code: -32603, message: 'The profile denies it.' }))
})

test('only what the settings name is offered and served', async () => {
  const place = await makePlace()
  writeFileSync(join(place.workspace, 'a.txt'), 'x')
  const { answers, capabilities } = await play(
    place,
    [read(join(place.workspace, 'a.txt')), terminal('create', { command: 'ls' })],
    {
      serve: ['files'],
    },
  )
  expect(capabilities).toMatchObject({ fs: { readTextFile: true, writeTextFile: true }, terminal: false })
  expect(answers).toEqual([{ content: 'x' }, expect.objectContaining({ code: -32601 })])
})

async function play(
  place: Place,
  calls: object[],
  { serve = ['files', 'terminals'], permission = { allow: true } as Permission } = {},
) {
  const options = acp.options.parse({ command: [process.execPath, '-e', program(calls)], serve })
  const spec = { options, prompt: '', extraArgs: [], ...place }
  const child = await launch(acp.command(spec), place)
  onTestFinished(async () => void (await child.stop({ graceMs: 0 })))
  const requests: PermissionRequest[] = []
  const events: AgentEvent[] = []
  const verdict = await (await acp.open(child, spec)).turn({
    prompt: 'go',
    signal: AbortSignal.timeout(20_000),
    ask: async () => undefined,
    emit: (event) => void events.push(event),
    async permit(request) {
      requests.push(request)
      return permission
    },
  })
  const told = JSON.parse(verdict.text) as { answers: unknown[]; capabilities: unknown }
  return { ...told, requests, events }
}
