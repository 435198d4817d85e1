import type { Child } from '../../sandbox/process/child.ts'
import { createLineSplitter, type Line } from '../../sandbox/process/lines.ts'
import type { Conversation, LaunchSpec, Turn, Verdict } from '../port.ts'
import { readChild } from '../shared/read-child.ts'
import { cut } from '../shared/text.ts'
import { createUnknownLines } from '../shared/unknown.ts'
import { hearComplaints, type Retry } from './complaints.ts'
import { holdSession } from './held-session.ts'
import { shielded } from './prompt.ts'
import { createTranslator, type Translator } from './translate.ts'
import { type Facts, judgeExit, judgeFailure } from './verdict.ts'

const maxLineBytes = 16 * 1024 * 1024

/** Speaks to one call of the program: one process per turn, nothing can be asked. */
export const openOneShot = (child: Child, { resume, servers }: Pick<LaunchSpec, 'resume' | 'servers'>): Conversation => ({
  turn: (turn) => runTurn(child, turn, { isResumed: resume !== undefined, servers }),
  async close() {
    child.stdin.destroy()
  },
})

async function runTurn(
  child: Child,
  turn: Turn,
  { isResumed, servers }: { isResumed: boolean; servers: readonly string[] | undefined },
): Promise<Verdict> {
  child.stdin.end(shielded(turn.prompt))
  // Events come from both outputs: one at a time all the same.
  let emitted: Promise<unknown> = Promise.resolve()
  const session = holdSession()
  if (isResumed) await session.release(turn.emit)
  const emit: Turn['emit'] = (event) => {
    const now = emitted.then(() => session.emit(event, turn.emit))
    emitted = now.catch(() => {})
    return now
  }
  const gaveUp = new AbortController()
  let retry: Retry | undefined
  const complaints = hearComplaints(emit, (about) => {
    retry = about
    // Whether and when to try again is ours to say.
    gaveUp.abort()
  })
  const output = listen({ ...turn, emit }, servers)
  const signal = AbortSignal.any([turn.signal, gaveUp.signal])
  const exit = await readChild(child, { signal, stdout: output.push, stderr: complaints.push })
  await complaints.end()
  const { translator, notUnderstood } = await output.end()
  await emitted
  const { result } = translator
  if (result?.ok && translator.soFar() !== '') await session.release(turn.emit)
  const facts: Facts = {
    text: result?.ok ? translator.answer() : translator.soFar(),
    vendorSession: session.isTold ? translator.session : undefined,
    usage: translator.usage(),
  }
  if (retry && !turn.signal.aborted && !result?.ok)
    return { ...facts, outcome: 'failed', ...judgeFailure({ message: retry.said, status: retry.status }) }
  if (exit && result?.ok === false) return { ...facts, outcome: 'failed', ...judgeFailure(result.failure) }
  if (exit?.code !== 0 || !result) {
    if (exit?.code === 0 && notUnderstood !== undefined) {
      const message = `A line could not be understood: ${notUnderstood}`
      return { ...facts, outcome: 'failed', category: 'protocol_error', message }
    }
    return judgeExit(exit, facts, complaints.kept)
  }
  return facts.text === ''
    ? { ...facts, outcome: 'empty', category: 'empty_answer', message: 'It ended well but said nothing.' }
    : { ...facts, outcome: 'succeeded' }
}

function listen(turn: Turn, servers: readonly string[] | undefined) {
  let lines: Line[] = []
  const splitter = createLineSplitter({
    maxBytes: maxLineBytes,
    onLine: (line, truncatedBytes) => lines.push({ text: line, truncatedBytes }),
  })
  const unknown = createUnknownLines(turn)
  const translator = createTranslator(
    async (event) => {
      await unknown.flush()
      await turn.emit(event)
    },
    turn.grow,
    servers,
  )
  let notUnderstood: string | undefined

  async function takeLines(): Promise<void> {
    const taken = lines
    lines = []
    for (const line of taken) {
      if (line.text.trim() === '' || (await translator.take(line))) continue
      notUnderstood = cut(line.text, 200)
      await unknown.add(line.text)
    }
    await unknown.flush()
  }

  return {
    async push(chunk: Buffer) {
      splitter.push(chunk)
      await takeLines()
    },
    async end(): Promise<{ translator: Translator; notUnderstood: string | undefined }> {
      splitter.end()
      await takeLines()
      await translator.end()
      return { translator, notUnderstood }
    },
  }
}
