#!/usr/bin/env node
/**
 * An agent that plays a script: a real process for the tests to be unkind with. Plain Node, no dependency.
 *
 * The script is JSON, `{ "output": "text" | "jsonl", "steps": [ … ] }` or just the array, taken from the first of: a path to a
 * .json file as the last argument; FAKE_SCRIPT (a path, or the JSON itself); the prompt on stdin, from its first `{` or `[` to its
 * last. A prompt that holds no script is answered with its length and its beginning. Steps run in order, each an object with one key:
 *
 *   speak: text               says it: a line, or {type:'text',text} in jsonl
 *   stderr: text              a line on standard error
 *   write: text               bytes on stdout exactly as given, no newline added
 *   tool: {name,input,output} a tool call and its return (jsonl)
 *   session: id               names the conversation (jsonl)
 *   result: text | {result,error,costUsd,usage}   the final record in jsonl, a line in text
 *   ask: {text,options}       asks through the door and prints {type:'asked',id}
 *   mcp: {server,tool,input,file?}   calls a tool of a server that a file of its home names, and says what came back; without tool, what there is
 *   sleep: ms                 waits
 *   hang: true                waits for ever
 *   flood: bytes              that many bytes in lines of 100, with back-pressure
 *   longLine: bytes           that many bytes without a newline, then one newline
 *   badUtf8: true             bytes that are no UTF-8, a NUL, a byte order mark, half a surrogate pair
 *   writeFile: {file,text}    appendLine: {file,text}   adds `text pid monotonic-ns`, in one write to the end of the file
 *   lockExclusive: file       holds a kernel lock until it ends; if another holds it, says OVERLAP and ends with code 99
 *   ignoreTerm: true          from now on ignores TERM, HUP and INT
 *   doubleFork: {file?}       leaves a process in a session of its own that ignores TERM, HUP and INT and holds stdout; its pid goes to file
 *   holdStdout: {file?,ms?}   leaves an ordinary child that holds stdout
 *   closeStdout: true         closes its stdout and goes on
 *   sayArgs: true             says its arguments as JSON
 *   sayEnv: name              says a variable of its environment
 *   crash: signal             kills itself
 *   exit: code                ends at once
 */
import { spawn } from 'node:child_process'
import { appendFileSync, closeSync, readFileSync, writeFileSync, writeSync } from 'node:fs'

let calls = 0
const play = {
  nothing: () => undefined,
  speak: (text) => emit({ type: 'text', text }, text),
  stderr: (text) => void writeSync(2, `${text}\n`),
  write: (text) => print(text),
  async tool({ name, input = {}, output: returned = '' }) {
    const id = `call-${++calls}`
    await emit({ type: 'tool', id, name, input })
    await emit({ type: 'tool_result', id, output: returned, isError: false })
  },
  session: (session) => emit({ type: 'session', session }),
  result: (given) =>
    typeof given === 'string' ? emit({ type: 'result', result: given }, given) : emit({ type: 'result', ...given }, given.result),
  ask,
  mcp,
  sleep,
  hang: () => new Promise(() => setInterval(() => undefined, 1_000_000)),
  flood,
  longLine,
  badUtf8: () => print(Buffer.from([0x61, 0xff, 0xfe, 0x00, 0xef, 0xbb, 0xbf, 0xed, 0xa0, 0x80, 0xc3, 0x62, 0x0a])),
  writeFile: ({ file, text }) => writeFileSync(file, text),
  appendLine: ({ file, text }) => appendFileSync(file, `${text} ${process.pid} ${process.hrtime.bigint()}\n`),
  lockExclusive,
  ignoreTerm() {
    for (const name of ['SIGTERM', 'SIGHUP', 'SIGINT']) process.on(name, () => undefined)
  },
  doubleFork: ({ file } = {}) => leave({ stubborn: true, file }),
  holdStdout: ({ file, ms } = {}) => leave({ stubborn: false, file, ms }),
  closeStdout: () => closeSync(1),
  sayArgs: () => emit({ type: 'text', text: JSON.stringify(process.argv.slice(2)) }, JSON.stringify(process.argv.slice(2))),
  sayEnv: (name) => emit({ type: 'text', text: process.env[name] ?? '' }, process.env[name] ?? ''),
  crash(signal) {
    process.kill(process.pid, signal)
    return new Promise(() => setInterval(() => undefined, 1_000_000))
  },
  exit: (code) => process.exit(code),
}

const { output = 'text', steps } = await findScript()
for (const step of steps) {
  const [name, given] = Object.entries(step)[0] ?? ['nothing']
  if (!Object.hasOwn(play, name)) throw new Error(`the fake agent knows no step "${name}"`)
  await play[name](given)
}

async function findScript() {
  const file = process.argv.at(-1)
  if (process.argv.length > 2 && file.endsWith('.json')) return parseScript(readFileSync(file, 'utf8'))
  const set = process.env.FAKE_SCRIPT
  if (set) return parseScript(/^\s*[{[]/.test(set) ? set : readFileSync(set, 'utf8'))
  let prompt = ''
  for await (const chunk of process.stdin.setEncoding('utf8')) prompt += chunk
  const begins = prompt.search(/[{[]/)
  const ends = Math.max(prompt.lastIndexOf('}'), prompt.lastIndexOf(']'))
  if (begins >= 0 && ends > begins) {
    try {
      return parseScript(prompt.slice(begins, ends + 1))
    } catch (thrown) {
      if (!(thrown instanceof SyntaxError)) throw thrown
    }
  }
  return { steps: [{ speak: `${Buffer.byteLength(prompt)} bytes: ${prompt.slice(0, 200)}` }] }
}

function parseScript(text) {
  const script = JSON.parse(text)
  return Array.isArray(script) ? { steps: script } : script
}

function emit(record, text) {
  return print(output === 'jsonl' ? `${JSON.stringify(record)}\n` : text === undefined ? '' : `${text}\n`)
}
function print(bytes) {
  return new Promise((done) => process.stdout.write(bytes, () => done()))
}
function sleep(ms) {
  return new Promise((done) => setTimeout(done, ms))
}

/** Leaves a process behind that holds our stdout. */
function leave({ stubborn, file, ms = 600_000 }) {
  const ignore = stubborn ? "for (const name of ['SIGTERM', 'SIGHUP', 'SIGINT']) process.on(name, () => {});" : ''
  const child = spawn(
    process.execPath,
    ['-e', `${ignore} process.send('up'); process.disconnect(); setTimeout(() => {}, ${ms})`],
    {
      detached: stubborn,
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    },
  )
  return new Promise((done) =>
    child.once('message', () => {
      if (file) writeFileSync(file, `${child.pid}`)
      child.unref()
      done()
    }),
  )
}

async function ask({ text, options = [] }) {
  const response = await fetch(`${process.env.PAWL_DOOR_URL}/v1/questions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${process.env.PAWL_DOOR_TOKEN}` },
    body: JSON.stringify({ text, options }),
  })
  if (response.status !== 202) throw new Error(`the door answered ${response.status}: ${await response.text()}`)
  const { id } = await response.json()
  await emit({ type: 'asked', id }, `asked ${id}`)
}

/** As a program does that is told of its servers by a file in which variables stand. */
async function mcp({ server, tool, input = {}, file = '.agent/mcp.json' }) {
  const written = readFileSync(`${process.env.HOME}/${file}`, 'utf8')
  const { mcpServers } = JSON.parse(written.replaceAll(/\$\{(\w+)\}/g, (_, name) => process.env[name]))
  const { url, headers } = mcpServers[server]
  const send = async (method, params) => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    })
    return response.json()
  }
  const clientInfo = { name: 'fake-agent', version: '1' }
  const hello = await send('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo })
  const reply = hello.error ? hello : await (tool ? send('tools/call', { name: tool, arguments: input }) : send('tools/list', {}))
  const said = reply.result?.tools?.map(({ name }) => name).join(' ') ?? reply.result?.content?.map(({ text }) => text).join('\n')
  const line = `${server}: ${said ?? `error: ${reply.error?.message}`}`
  await emit({ type: 'text', text: line }, line)
}

/** flock(1) holds the lock as long as our end of its pipe is open: the kernel lets go whatever way we die. */
function lockExclusive(file) {
  const holder = spawn('flock', ['-n', '-x', file, 'sh', '-c', 'echo locked; exec cat'], { stdio: ['pipe', 'pipe', 'inherit'] })
  holder.unref()
  holder.stdin.unref()
  return new Promise((done) => {
    holder.stdout.once('data', () => {
      holder.stdout.unref()
      done()
    })
    holder.once('exit', () => {
      writeSync(2, `OVERLAP: another instance holds ${file}\n`)
      process.exit(99)
    })
  })
}

async function flood(bytes) {
  const block = `${'x'.repeat(99)}\n`.repeat(655)
  for (let left = bytes; left > 0; left -= block.length) await print(block.slice(0, left))
}

async function longLine(bytes) {
  const block = 'y'.repeat(65_536)
  for (let left = bytes; left > 0; left -= block.length) await print(block.slice(0, left))
  await print('\n')
}
