/**
 * The loop that makes an agent of a model: a program of Pawl's own, started inside the walls with the path of its settings. Node alone runs it, without any package.
 * It takes lines of JSON: {type:'turn',prompt,model} {type:'decision',id,allow,message?,stop?} {type:'interrupt'}
 * and prints what `records.ts` beside this folder reads.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { asObject } from '../../../domain/base/object.ts'
import { asText, linesOf, parsed } from '../../shared/program-lines.ts'
import { Failure } from './failure.ts'
import { openHistory } from './history.ts'
import { runTurn } from './loop.ts'
import { openServer } from './mcp.ts'
import type { Addresses, ModelFacts, Settings } from './settings.ts'
import type { Decision, Loop } from './turn.ts'

process.title = 'pawl-ollama'
const settings = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as Settings
const { PAWL_OLLAMA_URL: model = '', PAWL_DOOR_URL: door, PAWL_DOOR_TOKEN: token } = process.env
const addresses: Addresses = { model, door, token }
const say = (record: object) => void process.stdout.write(`${JSON.stringify(record)}\n`)

let loop: Loop | undefined
const decisions = new Map<string, (decision: Decision) => void>()
let stopping: AbortController | undefined

for await (const line of linesOf(process.stdin as AsyncIterable<Buffer>)) {
  const message = parsed(line)
  if (message?.type === 'turn' && !stopping) void take(asText(message.prompt), asObject(message.model) ?? {})
  else if (message?.type === 'interrupt') stopping?.abort()
  else if (message?.type === 'decision') decide(message)
}
// Whoever spoke to it is gone.
stopping?.abort()

function decide(message: Readonly<Record<string, unknown>>): void {
  const id = asText(message.id)
  decisions.get(id)?.({ allow: message.allow === true, message: asText(message.message), stop: message.stop === true })
  decisions.delete(id)
}

async function take(prompt: string, facts: Readonly<Record<string, unknown>>): Promise<void> {
  const now = new AbortController()
  stopping = now
  try {
    loop ??= open()
    const ended = await runTurn(loop, {
      prompt,
      model: facts as unknown as ModelFacts,
      signal: now.signal,
      say,
      permit: (call) => permit(call.id, call.name, call.arguments, now.signal),
    })
    finish({ type: 'result', ...ended })
  } catch (thrown) {
    const { code, retryAfterMs } = thrown instanceof Failure ? thrown : { code: 'crashed', retryAfterMs: undefined }
    const message = thrown instanceof Error ? thrown.message : String(thrown)
    finish({ type: 'result', status: 'failed', text: '', code, message, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) })
  }
}

/** Ready for another turn before the end of this one is told. */
function finish(result: object): void {
  stopping = undefined
  decisions.clear()
  say(result)
}

function open(): Loop {
  const { session, folder, servers } = settings
  const history = openHistory(join(folder, `${session.id}.jsonl`), session)
  say({ type: 'session', id: session.id })
  return { settings, addresses, history, servers: door && token ? servers.map((server) => openServer(door, token, server)) : [] }
}

function permit(id: string, tool: string, input: unknown, signal: AbortSignal): Promise<Decision> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    if (signal.aborted) return abort()
    signal.addEventListener('abort', abort, { once: true })
    decisions.set(id, resolve)
    say({ type: 'wants', id, tool, input })
  })
}
