#!/usr/bin/env node
/**
 * Stands in for opencode: a real process that speaks its protocols. Plain Node, no dependency.
 *
 *   --version            a version that Pawl knows
 *   acp …                the fake program of the Agent Client Protocol
 *   (anything else)      answers the prompt on stdin with its length and its beginning, as `run --format json` does
 */
import { text } from 'node:stream/consumers'

const args = process.argv.slice(2)

if (args[0] === '--version') process.stdout.write('1.18.33\n')
else if (args[0] === 'acp') await import('./fake-acp.js')
else {
  const prompt = await text(process.stdin)
  const part = { type: 'text', text: `${Buffer.byteLength(prompt)} bytes: ${prompt.slice(0, 200)}` }
  process.stdout.write(`${JSON.stringify({ type: 'text', sessionID: 'ses_0123456789abcdef', part })}\n`)
}
