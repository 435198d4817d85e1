#!/usr/bin/env node
/**
 * Stands in for a program that speaks the Agent Client Protocol: a real process. Plain Node, no dependency.
 *
 *   --version            a version
 *   (nothing)            answers each prompt with its length and its beginning
 *   FAKE_SCRIPT          each prompt plays the fake agent's script and then ends the process
 *   FAKE_TRANSCRIPT      plays a recording: lines {"dir":"in"|"out","msg"}, where each `in` waits for a message of that kind, and {"stderr"} or {"exit"}
 *   FAKE_HEARD           a file that gets every line that it hears
 */
import { appendFileSync, readFileSync, writeSync } from 'node:fs'
import { createInterface } from 'node:readline'

const { FAKE_SCRIPT, FAKE_TRANSCRIPT, FAKE_HEARD } = process.env
const sessionId = 'sess-0199a213'
const answerTo = (prompt) => `${Buffer.byteLength(prompt)} bytes: ${prompt.slice(0, 200)}`
const say = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
const capabilities = { loadSession: true, mcpCapabilities: { http: true, sse: false }, promptCapabilities: {} }

if (process.argv[2] === '--version') process.stdout.write('fake-acp 1.2.3\n')
else if (FAKE_TRANSCRIPT) await replay(readFileSync(FAKE_TRANSCRIPT, 'utf8'))
else await serve()

async function serve() {
  for await (const line of messages()) {
    const { id, method, params } = JSON.parse(line)
    if (method === 'initialize') say({ id, result: { protocolVersion: 1, agentCapabilities: capabilities, authMethods: [] } })
    if (method === 'session/new') say({ id, result: { sessionId } })
    if (method === 'session/load') say({ id, result: {} })
    if (method !== 'session/prompt') continue
    // The script says which answer is the one to the prompt; it cannot know the number that it was asked under.
    if (FAKE_SCRIPT) {
      await import('./fake-agent.js')
      break
    }
    const text = answerTo(params.prompt[0].text)
    say({
      method: 'session/update',
      params: { sessionId, update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } } },
    })
    say({ id, result: { stopReason: 'end_turn' } })
  }
  process.stdin.destroy()
}

async function replay(recorded) {
  const heard = messages()
  for (const line of recorded.trim().split('\n')) {
    const { dir, msg, stderr, exit } = JSON.parse(line)
    if (dir === 'out') say(msg)
    else if (dir === 'in') await expectMessage(heard, msg)
    else if (stderr !== undefined) writeSync(2, `${stderr}\n`)
    else if (exit !== undefined) process.exit(exit)
  }
  // As the real ones do, it waits for more until its stdin is closed.
  for await (const _ of heard);
}

async function expectMessage(heard, wanted) {
  const { value, done } = await heard.next()
  if (done) process.exit(0)
  const got = JSON.parse(value)
  const isSame = (part) => wanted[part] === undefined || JSON.stringify(got[part]) === JSON.stringify(wanted[part])
  if (got.method === wanted.method && got.id === wanted.id && isSame('result') && isSame('params')) return
  writeSync(2, `the recording has ${JSON.stringify(wanted)} where ${value} came\n`)
  process.exit(70)
}

/** Its line splitting is enough here: no prompt of a test holds a line separator of Unicode. */
async function* messages() {
  for await (const line of createInterface({ input: process.stdin, terminal: false })) {
    if (FAKE_HEARD) appendFileSync(FAKE_HEARD, `${line}\n`)
    yield line
  }
}
