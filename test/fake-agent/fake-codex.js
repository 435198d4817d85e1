#!/usr/bin/env node
/**
 * Stands in for the Codex program: a real process that speaks its protocols. Plain Node, no dependency.
 *
 *   --version                 a version that Pawl takes
 *   exec … -                  answers the prompt on stdin with its length and its beginning
 *   app-server                the same over the protocol; with FAKE_SCRIPT each turn plays the fake agent's script and then ends the
 *                             process; with FAKE_TRANSCRIPT it plays a recording: lines {"dir":"in"|"out","msg"}, where each `in`
 *                             waits for a message of that kind, and {"stderr"} or {"exit"}
 */
import { readFileSync, writeSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'

const { FAKE_SCRIPT, FAKE_TRANSCRIPT } = process.env
const args = process.argv.slice(2)
const session = '0199a213-81c0-7800-8aa1-bbab2a035a53'
const answerTo = (prompt) => `${Buffer.byteLength(prompt)} bytes: ${prompt.slice(0, 200)}`
const say = (message) => process.stdout.write(`${JSON.stringify(message)}\n`)

if (args[0] === '--version') process.stdout.write('codex-cli 0.166.0\n')
else if (args[0] === 'exec') await exec()
else if (FAKE_TRANSCRIPT) await replay(readFileSync(FAKE_TRANSCRIPT, 'utf8'))
else await serve()

async function exec() {
  const prompt = await text(process.stdin)
  say({ type: 'thread.started', thread_id: session })
  say({ type: 'item.completed', item: { id: 'item_0', type: 'agent_message', text: answerTo(prompt) } })
  say({ type: 'turn.completed', usage: { input_tokens: 1, cached_input_tokens: 0, output_tokens: 1 } })
}

async function serve() {
  for await (const line of messages()) {
    const { id, method, params } = JSON.parse(line)
    if (method === 'initialize') say({ id, result: { userAgent: 'fake' } })
    if (method === 'thread/start' || method === 'thread/resume')
      say({ id, result: { thread: { id: params.threadId ?? session } } })
    if (method !== 'turn/start') continue
    say({ id, result: { turn: { id: 'turn-1', status: 'inProgress' } } })
    if (FAKE_SCRIPT) {
      await import('./fake-agent.js')
      break
    }
    const item = { type: 'agentMessage', id: 'msg_1', text: answerTo(params.input[0].text) }
    say({ method: 'item/completed', params: { threadId: session, turnId: 'turn-1', item } })
    say({ method: 'turn/completed', params: { threadId: session, turn: { id: 'turn-1', status: 'completed', error: null } } })
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
  // As the real one does, it waits for more until its stdin is closed.
  for await (const _ of heard);
}

async function expectMessage(heard, wanted) {
  const { value, done } = await heard.next()
  if (done) process.exit(0)
  const got = JSON.parse(value)
  const isAnswer = wanted.result === undefined || JSON.stringify(got.result) === JSON.stringify(wanted.result)
  if (got.method === wanted.method && got.id === wanted.id && isAnswer) return
  writeSync(2, `the recording has ${JSON.stringify(wanted)} where ${value} came\n`)
  process.exit(70)
}

/** Its line splitting is enough here: no prompt of a test holds a line separator of Unicode. */
async function* messages() {
  yield* createInterface({ input: process.stdin, terminal: false })
}
