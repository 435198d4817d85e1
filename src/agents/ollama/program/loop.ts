import { type Asking, createAsking } from './asking.ts'
import { doCalls } from './calls.ts'
import type { Answer } from './chat.ts'
import { Failure } from './failure.ts'
import { interrupted, openCalls } from './history.ts'
import { ownTools } from './own-tools.ts'
import type { Settings } from './settings.ts'
import type { Tool } from './tool.ts'
import { answered, type Ended, type Loop, type Turn } from './turn.ts'

/** One prompt to its end: asks the model, does what it calls for, and asks again until it calls for nothing. Throws a `Failure`. */
export async function runTurn(loop: Loop, turn: Turn): Promise<Ended> {
  const { settings, history } = loop
  const tools = turn.model.canUseTools ? await offered(loop, turn) : []
  const asking = createAsking(loop, turn, tools)
  history.add({ role: 'user', content: turn.prompt })
  try {
    for (let asked = 0; ; asked++) {
      if (settings.maxTurns !== undefined && asked >= settings.maxTurns)
        throw new Failure('max_turns', `The model was asked ${asked} times, which is all that is allowed, and had not finished.`)
      const answer = await asking.ask()
      if (answer.calls.length === 0) return { status: 'done', text: await finished(answer, asking, settings) }
      if (await doCalls(answer.calls, tools, loop, turn)) return { status: 'blocked', text: '' }
    }
  } catch (thrown) {
    if (turn.signal.aborted) return { status: 'stopped', text: '' }
    throw thrown
  } finally {
    for (const call of openCalls(history.messages)) answered(loop, turn, call, { output: interrupted, isError: true })
  }
}

/** Without the door the model still has its own tools. */
async function offered({ settings, servers }: Loop, turn: Turn): Promise<Tool[]> {
  const own = ownTools.filter((tool) => settings.tools.includes(tool.name))
  const served = await Promise.all(
    servers.map((server) =>
      server.tools(settings.withoutMcp, turn.signal).catch((thrown: Error) => {
        const whose = server.name === 'pawl' ? "Pawl's own tools" : `The tools of "${server.name}"`
        turn.say({ type: 'note', text: `${whose} could not be had at the door: ${thrown.message}.` })
        return []
      }),
    ),
  )
  return [...own, ...served.flat()]
}

async function finished(answer: Answer, asking: Asking, { outputSchema }: Settings): Promise<string> {
  if (answer.isCutOff)
    throw new Failure('context_overflow', "The model's answer was cut off: there was no room left for it in its window.")
  if (!outputSchema || isJson(answer.content)) return answer.content.trim()
  // A form that is forced from the beginning on would keep the model from using tools, so it is asked for at the end, where it was not kept by itself.
  return (await asking.ask(outputSchema)).content.trim()
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch (thrown) {
    if (thrown instanceof SyntaxError) return false
    throw thrown
  }
}
