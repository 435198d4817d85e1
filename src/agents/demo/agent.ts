import { posix } from 'node:path'
import { z } from 'zod'
import { invalid, messageOf, PawlError } from '../../domain/error.ts'
import { Usage } from '../../domain/money/usage.ts'
import type { Child } from '../../sandbox/process/child.ts'
import { type Adapter, type Command, canOnly, type LaunchSpec, type Turn, type Verdict } from '../port.ts'
import { judgeEnding } from '../shared/ending.ts'
import { readChild } from '../shared/read-child.ts'
import { createTextFlow, createTextKeeper } from '../shared/text.ts'
import { type DemoSaid, listen } from './listen.ts'
import { programSource } from './program-source.ts'
import { sessionFiles } from './session-files.ts'

export const DemoOptions = z.strictObject({
  ask: z.boolean().default(true).describe('Whether it asks its one question.'),
})
export type DemoOptions = z.infer<typeof DemoOptions>

/** A small honest program of ours that needs no account: it looks at the workspace, asks one question and writes a report. */
export const demo: Adapter<DemoOptions> = {
  name: 'demo',
  title: 'Demo',
  isOurs: true,
  options: DemoOptions,
  can: canOnly('resume', 'askQuestion'),
  builtin: { name: 'demo', options: { ask: true } },
  sessions: sessionFiles,
  unread: ['node_modules'],
  async probe() {
    try {
      programSource()
      return { installed: true, version: process.versions.node, healthy: true, detail: 'part of Pawl; needs no account' }
    } catch (thrown) {
      return { installed: false, healthy: false, detail: messageOf(thrown), fix: 'Install Pawl again.' }
    }
  },
  command: demoCommand,
  open: (child) => ({
    turn: (turn) => runTurn(child, turn),
    async close() {
      child.stdin.destroy()
    },
  }),
}

const programFile = '.pawl-demo.mjs'

/** The program travels as a file of the session home: inside the walls, Pawl's own folder may not be readable. */
function demoCommand(spec: LaunchSpec<DemoOptions>): Command {
  if (spec.model !== undefined) throw refusal('model')
  if (spec.systemPrompt !== undefined) throw refusal('system prompt')
  if (spec.extraArgs.length > 0) throw refusal('extra argument')
  if (spec.resume !== undefined && !sessionFiles.id.test(spec.resume)) {
    throw invalid(`${JSON.stringify(spec.resume)} is not a session of the demo agent; those look like demo-0123456789abcdef.`)
  }
  const args = [posix.join(spec.home, programFile)]
  if (!spec.options.ask) args.push('--no-question')
  if (spec.resume !== undefined) args.push('--resume', spec.resume)
  return { file: process.execPath, args, env: {}, files: { [programFile]: programSource() } }
}

const refusal = (what: string) =>
  new PawlError('unsupported', `The demo agent takes no ${what}; remove it, or use another agent.`)

async function runTurn(child: Child, turn: Turn): Promise<Verdict> {
  child.stdin.end(turn.prompt)
  const output = listen(turn)
  const stderr = createTextKeeper(16_384)
  const complaints = createTextFlow({ keep: stderr, send: (text) => turn.emit({ type: 'agent.stderr', data: { text } }) })
  const exit = await readChild(child, { signal: turn.signal, stdout: output.push, stderr: complaints.push })
  await complaints.end()
  const said = await output.end()
  return judge(said, judgeEnding(exit, { facts: factsOf(said), stderr }))
}

/** Success needs the result record as well as a good exit. A failure that the program names itself says more than its exit code. */
function judge(said: DemoSaid, ending: Verdict | undefined): Verdict {
  const facts = factsOf(said)
  const { result } = said
  if (result?.isError && ending?.category !== 'crashed') {
    return { ...facts, outcome: 'failed', category: result.code ?? 'exit_code', message: facts.text }
  }
  if (ending) return ending
  if (said.asked && !result) return { ...facts, outcome: 'blocked', message: 'It waits for the answer to its question.' }
  if (!result && said.notUnderstood !== undefined) {
    return {
      ...facts,
      outcome: 'failed',
      category: 'protocol_error',
      message: `A line could not be understood: ${said.notUnderstood}`,
    }
  }
  if (!result) return { ...facts, outcome: 'failed', category: 'crashed', message: 'The program ended without a result.' }
  if (facts.text === '')
    return { ...facts, outcome: 'empty', category: 'empty_answer', message: 'It ended well but said nothing.' }
  return { ...facts, outcome: 'succeeded' }
}

const factsOf = ({ text, session, result }: DemoSaid) => ({
  text,
  vendorSession: session,
  costUsd: 0,
  usage: Usage.parse({ turns: result?.usage?.turns ?? 0 }),
})
