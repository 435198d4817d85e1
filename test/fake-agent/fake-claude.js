#!/usr/bin/env node
/**
 * Speaks Claude Code's stream-json on stdin and stdout, without a model. A prompt that is a JSON list is played step by step, any other
 * is answered with its length and its beginning, unless FAKE_PLAYS names a file with the steps for prompts that have a text in them:
 * {"text": steps}. Each step is an object with one key:
 *
 *   say: text               the agent says it
 *   line: object            a line exactly as given; lines: several, in one piece
 *   later: steps            these are played when the turn is over; `until` waits for a file, `stay` does not end with stdin; `heard` beside it is a file for the answers to what they ask
 *   use: {id,name,input}    the agent wants to use a tool; says how that was answered
 *   ask: request            a control request of another kind; says how that was answered
 *   hang: true              waits until it is interrupted
 *   stderr: text            a line on standard error
 *   exit: code              ends at once
 *   sayArgs: true           says its arguments as JSON
 *   call: {name,arguments}  calls a tool of Pawl, or of the `server` beside them; says what came back, or the names of all without a name
 *   write: {file,text}      writes a file
 *   plant: {afterMs,files}  from then on tries again and again to write these files, whatever else it does; says nothing of it
 *   sleep: ms               waits for so long
 *   tries: [file]           says for each what came of writing it
 *   spend: {usd,usage}      what the turn will have cost and used
 *   fail: text              ends the turn with this failure
 *   next: steps             these are played at the next prompt, whatever it says, also by another process with the same home
 */
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'

if (process.argv.includes('--version')) {
  console.log(`${process.env.FAKE_VERSION ?? '2.1.325'} (Claude Code)`)
  process.exit()
}

const nextFile = join(process.env.HOME ?? '/tmp', '.fake-next.json')
const session = argument('--resume') ?? argument('--session-id') ?? '0f0f0f0f-0000-4000-8000-000000000000'
const waiting = new Map()
let interrupted = withResolvers()
let turns = 0
let isBusy = false
const queue = []

createInterface({ input: process.stdin }).on('line', (text) => {
  const message = JSON.parse(text)
  if (message.type === 'control_response') waiting.get(message.response.request_id)?.(message.response)
  if (message.type === 'control_request') {
    print({ type: 'control_response', response: { subtype: 'success', request_id: message.request_id, response: {} } })
    interrupted.resolve()
  }
  if (message.type === 'user') queue.push(message.message.content[0].text)
  void next()
})

async function next() {
  if (isBusy || queue.length === 0) return
  isBusy = true
  interrupted = withResolvers()
  await turn(queue.shift())
  isBusy = false
  void next()
}

async function turn(prompt) {
  print({ type: 'system', subtype: 'init', session_id: session })
  const left = takeNext()
  const steps = left
    ? left
    : playOf(prompt)
      ? playOf(prompt)
      : prompt.startsWith('[{')
        ? JSON.parse(prompt)
        : [{ say: `${Buffer.byteLength(prompt)} bytes: ${prompt.slice(0, 200)}` }]
  let said = ''
  let failure
  let spent = {
    usd: 0.25,
    usage: { input_tokens: 10, output_tokens: 5, cache_read_input_tokens: 1, cache_creation_input_tokens: 2 },
  }
  let later
  let isInterrupted = false
  void interrupted.promise.then(() => {
    isInterrupted = true
  })
  for (const step of steps) {
    const [name, given] = Object.entries(step)[0]
    if (name === 'say') say(given)
    if (name === 'line') print(given)
    if (name === 'lines') process.stdout.write(given.map((line) => `${JSON.stringify(line)}\n`).join(''))
    if (name === 'later') later = step
    if (name === 'stderr') process.stderr.write(`${given}\n`)
    if (name === 'exit') process.exit(given)
    if (name === 'sayArgs') say(JSON.stringify(process.argv.slice(2)))
    if (name === 'call') say(await call(given))
    if (name === 'write') writeFileSync(given.file, given.text)
    if (name === 'plant') setTimeout(() => setInterval(() => Object.entries(given.files).map(plant), 20), given.afterMs)
    if (name === 'sleep') await new Promise((done) => setTimeout(done, given))
    if (name === 'tries') say(given.map((file) => `${file} ${plant([file, 'x'])}`).join(', '))
    if (name === 'spend') spent = given
    if (name === 'fail') failure = given
    if (name === 'next') writeFileSync(nextFile, JSON.stringify(given))
    if (name === 'hang') await interrupted.promise
    if (name === 'ask') say(JSON.stringify(await request(given)))
    if (name === 'use') {
      print({ type: 'assistant', message: { content: [{ type: 'tool_use', ...given }] } })
      const { response } = await request({
        subtype: 'can_use_tool',
        tool_name: given.name,
        input: given.input,
        tool_use_id: given.id,
      })
      const isError = response.behavior !== 'allow'
      const content = isError ? response.message : `did ${JSON.stringify(response.updatedInput)}`
      print({ type: 'user', message: { content: [{ type: 'tool_result', tool_use_id: given.id, content, is_error: isError }] } })
      // Leaves room for an interruption that a denied question brings.
      if (isError) await Promise.race([interrupted.promise, new Promise((done) => setTimeout(done, 200))])
    }
    if (isInterrupted) break
  }
  turns++
  print({
    type: 'result',
    subtype: isInterrupted ? 'error_during_execution' : 'success',
    is_error: isInterrupted || failure !== undefined,
    ...(isInterrupted
      ? { errors: ['[ede_diagnostic] result_type=user'], terminal_reason: 'aborted_tools' }
      : { result: failure ?? said }),
    session_id: session,
    num_turns: steps.length,
    total_cost_usd: turns * spent.usd,
    usage: spent.usage,
  })
  if (later) await afterwards(later)

  function say(text) {
    said = text
    print({ type: 'assistant', message: { content: [{ type: 'text', text }] } })
  }
}

function plant([file, text]) {
  try {
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
    return 'written'
  } catch (error) {
    return error.code
  }
}

function playOf(prompt) {
  const { FAKE_PLAYS: file } = process.env
  if (!file) return undefined
  return Object.entries(JSON.parse(readFileSync(file, 'utf8'))).find(([text]) => prompt.includes(text))?.[1]
}

function takeNext() {
  if (!existsSync(nextFile)) return undefined
  const steps = JSON.parse(readFileSync(nextFile, 'utf8'))
  rmSync(nextFile)
  return steps
}

async function call({ server = 'pawl', ...params }) {
  const method = params.name === undefined ? 'tools/list' : 'tools/call'
  const message = { jsonrpc: '2.0', id: waiting.size, method, params }
  const { error: refused, response } = await request({ subtype: 'mcp_message', server_name: server, message })
  const { result, error } = response?.mcp_response ?? { error: { message: refused } }
  return error?.message ?? result.content?.[0].text ?? JSON.stringify(result.tools.map((tool) => tool.name))
}

/** As a timer of the program would do it. */
async function afterwards({ later, heard }) {
  for (const { line, use, ask, stay, until } of later) {
    while (until && !existsSync(until)) await new Promise((done) => setTimeout(done, 10))
    if (stay) setInterval(() => {}, 60_000)
    if (line) print(line)
    if (!use && !ask) continue
    const asked = ask ?? { subtype: 'can_use_tool', tool_name: use.name, input: use.input, tool_use_id: use.id }
    const answer = await request(asked)
    if (heard) appendFileSync(heard, `${JSON.stringify(answer)}\n`)
  }
}

function request(fields) {
  const id = `request-${waiting.size}`
  print({ type: 'control_request', request_id: id, request: fields })
  return new Promise((done) => waiting.set(id, done))
}
function print(message) {
  process.stdout.write(`${JSON.stringify(message)}\n`)
}
function argument(name) {
  return process.argv.find((value) => value.startsWith(`${name}=`))?.slice(name.length + 1)
}

/** Behind walls the system's own Node may be the only one there is, and an older one. */
function withResolvers() {
  const parts = {}
  parts.promise = new Promise((resolve, reject) => Object.assign(parts, { resolve, reject }))
  return parts
}
