import { Usage } from '../../domain/money/usage.ts'
import type { Child } from '../../sandbox/process/child.ts'
import type { LaunchSpec, Turn, Verdict } from '../port.ts'
import { judgeEnding } from '../shared/ending.ts'
import { readChild } from '../shared/read-child.ts'
import { createTextFlow, createTextKeeper, type TextKeeper } from '../shared/text.ts'
import { wholePrompt } from './command.ts'
import { explained } from './failure.ts'
import type { CustomOptions } from './options.ts'
import { readOutput, type Said } from './output.ts'
import { matchesIn } from './pattern.ts'
import { createIdFinder, type IdFinder } from './session-id.ts'

/** One prompt to its end: the program reads, prints and exits. */
export async function runTurn(child: Child, spec: LaunchSpec<CustomOptions>, turn: Turn): Promise<Verdict> {
  const { options } = spec
  child.stdin.end(options.prompt === 'stdin' ? wholePrompt(spec, turn.prompt) : '')
  const output = readOutput(options, turn)
  const stderr = createTextKeeper(16_384)
  const complaints = createTextFlow({
    keep: stderr,
    send: (text) => turn.emit({ type: 'agent.stderr', data: { text } }),
  })
  const ids = options.sessionId && createIdFinder(options.sessionId)
  const heard = tellId(ids, turn)
  const reading = (stream: 'stdout' | 'stderr', read: (chunk: Buffer) => Promise<void>) => async (chunk: Buffer) => {
    if (options.sessionId?.stream === stream) await heard(chunk)
    await read(chunk)
  }
  const exit = await readChild(child, {
    signal: turn.signal,
    stdout: reading('stdout', output.push),
    stderr: reading('stderr', complaints.push),
  })
  await complaints.end()
  const plain = await output.end({ whole: exit !== undefined })
  ids?.end()
  await heard()
  const said = ids ? { ...plain, session: ids.found() } : plain
  const facts = factsOf(said)
  const ending = judgeEnding(exit, { facts, stderr, good: options.toleratedExitCodes, reason: said.error })
  const bad = ending ?? judgeAnswer(said)
  const words = { reason: said.error, stderr: stderr.text(), answer: said.text, exitCode: exit?.code }
  const verdict = isExplainable(bad, ending) ? explained(bad, words, options) : bad
  return isUnknownConversation(spec, verdict, { said, stderr }) ? { ...bad, category: 'session_missing' } : verdict
}

/** A program that was killed, or that printed too much, did not end for a reason of its own. */
const isExplainable = ({ outcome, category }: Verdict, ending: Verdict | undefined) =>
  outcome === 'failed' && (ending ? category === 'exit_code' : category !== 'output_limit')

/** Told as soon as it is known, so that a program which is killed in the middle can be gone on with. */
function tellId(ids: IdFinder | undefined, turn: Turn) {
  let told: string | undefined
  return async (chunk?: Buffer): Promise<void> => {
    if (chunk) ids?.push(chunk)
    const id = ids?.found()
    if (id === undefined || id === told) return
    told = id
    await turn.emit({ type: 'agent.session', data: { vendorId: id } })
  }
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

/**
 * A program that was to go on and does not know the conversation: as the settings say it prints then. Where they say nothing, one that fails without one word is
 * taken for it: a conversation that is told anew costs less than one that can never be gone on with.
 */
function isUnknownConversation(
  { options, resume }: LaunchSpec<CustomOptions>,
  { outcome, category }: Verdict,
  { said, stderr }: { said: Said; stderr: TextKeeper },
): boolean {
  if (resume === undefined || outcome !== 'failed') return false
  if (options.missingSession === undefined) return category === 'exit_code' && said.text === ''
  const found = matchesIn(options.missingSession, [stderr.text(), said.error ?? '', said.text])
  return found?.some((match) => match.length > 0) === true
}

function factsOf({ text, session, costUsd, inputTokens, outputTokens }: Said) {
  const counted = inputTokens !== undefined || outputTokens !== undefined
  return { text, vendorSession: session, costUsd, usage: counted ? Usage.parse({ inputTokens, outputTokens }) : undefined }
}
