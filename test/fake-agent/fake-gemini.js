#!/usr/bin/env node
/**
 * Stands in for Gemini CLI: a real process that speaks its protocols. Plain Node, no dependency.
 *
 *   --version            a version that Pawl knows
 *   --acp …              the fake program of the Agent Client Protocol
 *   (anything else)      answers the prompt on stdin with its length and its beginning, as stream-json
 */
import { text } from 'node:stream/consumers'

const args = process.argv.slice(2)
const say = (message) => process.stdout.write(`${JSON.stringify(message)}\n`)

if (args[0] === '--version') process.stdout.write('0.61.0\n')
else if (args.includes('--acp')) await import('./fake-acp.js')
else {
  const prompt = await text(process.stdin)
  say({ type: 'init', session_id: '0199a213-81c0-4800-8aa1-bbab2a035a53', model: 'fake' })
  say({ type: 'message', role: 'user', content: prompt })
  const content = `${Buffer.byteLength(prompt)} bytes: ${prompt.slice(0, 200)}`
  say({ type: 'message', role: 'assistant', content, delta: true })
  say({ type: 'result', status: 'success', stats: {} })
}
