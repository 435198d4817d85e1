import type { Call } from './history.ts'
import { isServed } from './mcp.ts'
import type { Returned, Tool, ToolPlace } from './tool.ts'
import { answered, type Decision, type Loop, type Turn } from './turn.ts'
import { cutText } from './window.ts'

/** In the order of the answer; those that only look, and stand beside each other, together. True if a person must be asked first. */
export async function doCalls(calls: readonly Call[], tools: readonly Tool[], loop: Loop, turn: Turn): Promise<boolean> {
  const harmless = ({ name }: Call) => tools.find((tool) => tool.name === name)?.isHarmless === true
  for (const call of calls) turn.say({ type: 'tool', id: call.id, name: call.name, input: call.arguments })
  let isStopped = false
  const one = async (call: Call): Promise<void> => {
    if (isStopped)
      return answered(loop, turn, call, { output: 'Not done: a person is asked about another call first.', isError: true })
    const { stop, ...returned } = await doCall(call, tools, loop, turn)
    if (turn.signal.aborted) return
    isStopped ||= stop === true
    answered(loop, turn, call, returned)
  }
  for (let at = 0; at < calls.length; ) {
    const next = calls.findIndex((call, index) => index > at && !(harmless(call) && harmless(calls[at]!)))
    const end = next === -1 ? calls.length : next
    await Promise.all(calls.slice(at, end).map(one))
    at = end
    turn.signal.throwIfAborted()
  }
  return isStopped
}

async function doCall(
  call: Call,
  tools: readonly Tool[],
  { settings }: Loop,
  turn: Turn,
): Promise<Returned & { stop?: boolean | undefined }> {
  const tool = tools.find((each) => each.name === call.name)
  const failed = (output: string) => ({ output, isError: true })
  if (!tool) return failed(`There is no tool "${call.name}". There are: ${tools.map(({ name }) => name).join(', ')}.`)
  // Those of the door ask by themselves.
  const decision: Decision = isServed(call.name) ? { allow: true } : await turn.permit(call)
  if (!decision.allow) return { ...failed(decision.message ?? 'This is not allowed.'), stop: decision.stop }
  const { window, canSee } = turn.model
  const place: ToolPlace = {
    workspace: settings.workspace,
    confinedTo: settings.confinedTo,
    signal: turn.signal,
    maxChars: Math.max(2_000, Math.min(65_536, Math.floor(window * 0.75))),
    canSee,
  }
  try {
    const { output, images, isError } = await tool.run(call.arguments, place)
    const seen = images && canSee ? { images } : {}
    return { output: cutText(output, place.maxChars + 200), isError: isError === true, ...seen }
  } catch (thrown) {
    return failed(thrown instanceof Error ? thrown.message : String(thrown))
  }
}
