import { type Adapter, type Conversation, canOnly, type LaunchSpec, type Turn, type Verdict } from '../../agent.ts'
import { Usage } from '../../domain/usage.ts'
import type { Child } from '../../process/child.ts'
import { judgeEnding } from '../ending.ts'
import { readChild } from '../read-child.ts'
import { createTextFlow, createTextKeeper } from '../text.ts'
import { customCommand } from './command.ts'
import { modelUse } from './models.ts'
import { CustomOptions } from './options.ts'
import { readOutput, type Said } from './output.ts'
import { probeCommand } from './probe.ts'

/** Any command as an agent: one process per prompt, no conversation beyond it. */
export const custom: Adapter<CustomOptions> = {
  name: 'custom',
  title: 'Any command',
  options: CustomOptions,
  can: canOnly('model', 'systemPrompt', 'usage'),
  models: modelUse,
  probe: probeCommand,
  command: customCommand,
  open: (child, spec): Conversation => ({
    turn: (turn) => runTurn(child, spec, turn),
    async close() {
      child.stdin.destroy()
    },
  }),
}

async function runTurn(child: Child, { options }: LaunchSpec<CustomOptions>, turn: Turn): Promise<Verdict> {
  child.stdin.end(options.prompt === 'stdin' ? turn.prompt : '')
  const output = readOutput(options, turn)
  const stderr = createTextKeeper(16_384)
  const complaints = createTextFlow({
    keep: stderr,
    send: (text) => turn.emit({ type: 'agent.stderr', data: { text } }),
  })
  const exit = await readChild(child, { signal: turn.signal, stdout: output.push, stderr: complaints.push })
  await complaints.end()
  const said = await output.end({ whole: exit !== undefined })
  return (
    judgeEnding(exit, { facts: factsOf(said), stderr, good: options.toleratedExitCodes, reason: said.error }) ?? judgeAnswer(said)
  )
}

/** Of a program that ended well: whether what it printed is an answer. */
function judgeAnswer(said: Said): Verdict {
  const facts = factsOf(said)
  if (said.error !== undefined) return { ...facts, outcome: 'failed', category: 'exit_code', message: said.error }
  if (said.broken) return { ...facts, outcome: 'failed', ...said.broken }
  if (said.text === '')
    return { ...facts, outcome: 'empty', category: 'empty_answer', message: 'It ended well but said nothing.' }
  return { ...facts, outcome: 'succeeded' }
}

function factsOf({ text, session, costUsd, inputTokens, outputTokens }: Said) {
  const counted = inputTokens !== undefined || outputTokens !== undefined
  return { text, vendorSession: session, costUsd, usage: counted ? Usage.parse({ inputTokens, outputTokens }) : undefined }
}
