#!/usr/bin/env node
/**
 * A small MCP server on standard input and output: plain Node, no dependency, for the tests to be unkind with. It speaks 2025-11-25 and older, and 2026-07-28.
 *
 *   --old      knows nothing newer than `initialize`, and ends when it hears another word first
 *   --silent   never answers anything
 *   --broken   ends at once, with a complaint
 *   --flood    complains without end
 *   --cruel    has a tool whose answer takes for ever to hold against its own schema
 *   --many     has 10,000 tools more, and its key stands in what it says of each
 */
import { existsSync, writeFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'

const flags = new Set(process.argv.slice(2))
if (flags.has('--broken')) {
  console.error(`cannot go on: no database (key ${process.env.NOTES_TOKEN ?? 'none'})`)
  process.exit(3)
}
const info = { name: 'notes', version: '1.2.3' }
const modern = '2026-07-28'
const object = (properties = {}) => ({ type: 'object', properties })
const tools = [
  { name: 'echo', description: 'Says it again.', inputSchema: object({ text: { type: 'string' } }) },
  { name: 'whoami', description: 'Where it runs.', inputSchema: object() },
  { name: 'huge', description: 'Too much.', inputSchema: object() },
  { name: 'hang', description: 'Answers when there is a file called gate in its folder.', inputSchema: object() },
  { name: 'crash', description: 'Ends the server.', inputSchema: object() },
]
if (flags.has('--many'))
  for (let n = 1; n <= 10_000; n++)
    tools.push({ name: `tool-${n}`, description: `My key is ${process.env.NOTES_TOKEN}.`, inputSchema: object() })
if (flags.has('--cruel'))
  tools.push({
    name: 'cruel',
    description: 'Answers in a form.',
    inputSchema: object(),
    outputSchema: object({ word: { type: 'string', pattern: '^(a+)+$' } }),
  })
if (flags.has('--flood')) {
  const line = `${'complaint '.repeat(1_000)}${process.env.NOTES_TOKEN}\n`
  const complain = () => process.stderr.write(line, () => setImmediate(complain))
  complain()
}
const text = (said) => ({ content: [{ type: 'text', text: said }] })
const calls = {
  echo: (input) => text(`you said: ${input.text}`),
  whoami: () =>
    text(
      JSON.stringify({
        uid: process.getuid(),
        cwd: process.cwd(),
        hasToken: process.env.NOTES_TOKEN !== undefined,
        token: process.env.NOTES_TOKEN,
        variables: Object.keys(process.env).filter((name) => /KEY|SECRET|TOKEN|FAKE/.test(name) && name !== 'NOTES_TOKEN'),
        sees: (process.env.LOOK_FOR ?? '').split(',').filter((path) => path !== '' && existsSync(path)),
      }),
    ),
  huge: () => text('x'.repeat(3_000_000)),
  async hang() {
    writeFileSync('begun', '')
    while (!existsSync('gate')) await pause(50)
    return text('the gate is open')
  },
  cruel: () => ({ ...text('said'), structuredContent: { word: `${'a'.repeat(60)}!` } }),
  crash() {
    console.error('the floor gave way')
    process.exit(7)
  },
}

async function answer({ method, params = {}, id }) {
  const isModern = params._meta?.['io.modelcontextprotocol/protocolVersion'] === modern
  const complete = isModern ? { resultType: 'complete' } : {}
  switch (method) {
    case 'initialize':
      return {
        protocolVersion: params.protocolVersion > '2025-11-25' ? '2025-11-25' : params.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: info,
      }
    case 'server/discover':
      if (flags.has('--old')) process.exit(1)
      return {
        ...complete,
        supportedVersions: [modern],
        capabilities: { tools: {} },
        serverInfo: info,
        ttlMs: 0,
        cacheScope: 'private',
        _meta: { 'io.modelcontextprotocol/serverInfo': info },
      }
    case 'tools/list':
      return { ...complete, tools, ...(isModern ? { ttlMs: 0, cacheScope: 'private' } : {}) }
    case 'tools/call': {
      const call = calls[params.name]
      return {
        ...complete,
        ...(call ? await call(params.arguments ?? {}) : { ...text(`no tool ${params.name}`), isError: true }),
      }
    }
    case 'ping':
      return {}
    default:
      if (id !== undefined) throw new Error(`Method not found: ${method}`)
  }
}

let rest = ''
process.stdin.setEncoding('utf8')
process.stdin.on('data', async (part) => {
  const lines = (rest + part).split('\n')
  rest = lines.pop()
  for (const line of lines) {
    const message = JSON.parse(line)
    if (flags.has('--silent')) continue
    const reply = await answer(message).then(
      (result) => ({ result }),
      (error) => ({ error: { code: -32601, message: error.message } }),
    )
    if (message.id !== undefined) process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id: message.id, ...reply })}\n`)
  }
})
process.stdin.on('end', () => process.exit(0))
