import { eventWithoutDetail, seesDetail } from '../../domain/auth/detail.ts'
import type { Event } from '../../domain/event/event.ts'
import { isRestingEvent } from '../../domain/event/resting.ts'
import type { TaskView } from '../../domain/view/view.ts'
import type { Call } from './call.ts'
import { rests } from './task-shape.ts'

/** A client that hears nothing may give up: something is said at least so often. */
const beatMs = 10_000

/** Waits until the task has come to rest or the time is up, and tells the client meanwhile what happens. Answers the task as it is then. */
export async function waitForRest(call: Call, id: string, seconds: number): Promise<TaskView> {
  const { runtime, ctx } = call
  const over = new AbortController()
  const timer = setTimeout(() => over.abort(), seconds * 1_000)
  const signal = AbortSignal.any([over.signal, ctx.mcpReq.signal])
  const tell = teller(call)
  const beat = setInterval(() => tell('still at it'), beatMs)
  try {
    let isFirst = true
    for await (const { events } of runtime.followFeed({ task: id, signal })) {
      // What happened before the feed began is in the task itself.
      if (isFirst || events.some(isRestingEvent)) {
        const task = await runtime.getTask(id)
        if (rests(task)) return task
      }
      isFirst = false
      const last = events.at(-1)
      if (last) tell(lineOf(seesDetail(call.who.standing) ? last : eventWithoutDetail(last)))
    }
  } catch (error) {
    if (!signal.aborted) throw error
  } finally {
    clearTimeout(timer)
    clearInterval(beat)
    over.abort()
  }
  return runtime.getTask(id)
}

function teller({ ctx }: Call): (message: string) => void {
  const progressToken = ctx.mcpReq._meta?.progressToken
  if (progressToken === undefined) return () => undefined
  let progress = 0
  return (message) => {
    progress++
    // Whoever has gone away needs no progress.
    ctx.mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, message } }).catch(() => undefined)
  }
}

const told = 300

/** An event in one line. */
export function lineOf({ type, data }: Event): string {
  const said = JSON.stringify(data)
  const line = said === '{}' ? type : `${type} ${said}`
  return line.length > told ? `${line.slice(0, told)}…` : line
}
