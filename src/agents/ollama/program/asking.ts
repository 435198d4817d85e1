import { type Answer, chat, type Hearing } from './chat.ts'
import { Failure } from './failure.ts'
import type { Message } from './history.ts'
import type { Addresses } from './settings.ts'
import { createSpeech } from './speech.ts'
import type { Tool } from './tool.ts'
import type { Loop, Turn } from './turn.ts'
import { answerRoom, type Fitted, fitInto, guessTokens, overflow } from './window.ts'

/** Asks the model with as much of the conversation as it holds, and keeps what it says. */
export interface Asking {
  ask(format?: object): Promise<Answer>
}

export function createAsking({ settings, addresses, history }: Loop, turn: Turn, tools: readonly Tool[]): Asking {
  const described = tools.map(({ name, description, parameters }) => ({
    type: 'function',
    function: { name, description, parameters },
  }))
  const fixedTokens = guessTokens(settings.system) + guessTokens(JSON.stringify(described)) + 50
  let window = turn.model.window
  let factor = 1
  let toldOf = 0

  const body = (fitted: Fitted, format: object | undefined) => ({
    model: settings.model,
    messages: [{ role: 'system', content: settings.system + leftOutNote(fitted) }, ...fitted.messages.map(written)],
    ...(described.length > 0 && !format ? { tools: described } : {}),
    ...(format ? { format } : {}),
    ...(settings.think === undefined ? {} : { think: settings.think }),
    options: { ...settings.parameters, num_ctx: turn.model.window },
    // Else a server forgets the beginning of what does not fit, and tells nobody.
    truncate: false,
    shift: false,
  })

  async function ask(format?: object): Promise<Answer> {
    const fitted = fitInto(history.messages, { window, fixedTokens, factor })
    if (fitted.isTooLarge) throw overflow(fitted, window)
    const changes = fitted.leftOut + fitted.shortened
    if (changes > toldOf) turn.say({ type: 'compacted', tokensBefore: fitted.tokensBefore })
    toldOf = Math.max(toldOf, changes)
    const speech = createSpeech(turn.say)
    try {
      const answer = await request(body(fitted, format), speech)
      speech.end()
      keep(answer)
      // Where the server counts more than we guessed, all later guesses are raised by as much.
      if (answer.inputTokens > fitted.tokens) factor = Math.min((factor * answer.inputTokens) / fitted.tokens, 4)
      return answer
    } catch (thrown) {
      speech.end()
      if (speech.spoken !== '') history.add({ role: 'assistant', content: speech.spoken })
      if (!(thrown instanceof Failure) || thrown.code !== 'context_overflow') throw thrown
      return again(fitted, thrown, format)
    }
  }

  /** The server counts otherwise than we do: less is sent, as long as there is something to leave out. */
  async function again(fitted: Fitted, failure: Failure, format: object | undefined): Promise<Answer> {
    window = Math.floor(Math.min(window, fitted.tokens + answerRoom(window)) * 0.7)
    const next = fitInto(history.messages, { window, fixedTokens, factor })
    if (next.isTooLarge || next.tokens >= fitted.tokens) throw failure
    return ask(format)
  }

  const request = (sent: object, hearing: Hearing) =>
    chat({ url: addresses.model, token: tokenFor(addresses), signal: turn.signal }, sent as Record<string, unknown>, hearing)

  function keep({ content, thinking, calls, inputTokens, outputTokens }: Answer): void {
    history.add({
      role: 'assistant',
      content,
      ...(thinking === '' ? {} : { thinking }),
      ...(calls.length > 0 ? { calls } : {}),
    })
    turn.say({ type: 'usage', inputTokens, outputTokens })
  }
  return { ask }
}

/** Whoever else the model is asked of has nothing to do with the key of Pawl's door. */
const tokenFor = ({ model, door, token }: Addresses) => (door !== undefined && model.startsWith(`${door}/`) ? token : undefined)

const leftOutNote = ({ leftOut, shortened }: Fitted) =>
  leftOut + shortened === 0
    ? ''
    : `\n\nThe conversation is too long for you: ${leftOut} older messages are left out, and ${shortened} outputs of tools are shortened. Read again what you need.`

function written(message: Message): Record<string, unknown> {
  if (message.role === 'user') return { ...message }
  if (message.role === 'tool') {
    const { callId, name, ...rest } = message
    return { ...rest, tool_name: name, tool_call_id: callId }
  }
  const { calls, ...rest } = message
  return {
    ...rest,
    ...(calls
      ? { tool_calls: calls.map(({ id, name, arguments: given }) => ({ id, function: { name, arguments: given } })) }
      : {}),
  }
}
