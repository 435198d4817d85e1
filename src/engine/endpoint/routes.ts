import type { IncomingMessage } from 'node:http'
import { z } from 'zod'
import { QuestionAsked } from '../../domain/question/question.ts'
import { readBody } from './body.ts'
import type { HeldVerbs } from './holder.ts'
import { subtaskRoute, subtaskRoutes } from './subtasks.ts'

export type Route = (request: IncomingMessage, verbs: HeldVerbs) => Promise<{ status: number; body: unknown }>

const Message = z.strictObject({ text: z.string().min(1).max(65_536) })

const routes: Record<string, Route> = {
  'GET /v1/run': async (_, verbs) => ({ status: 200, body: verbs.describe() }),
  'POST /v1/questions': async (request, verbs) => {
    const question = await readBody(request, QuestionAsked, 'question')
    // Permission is asked for by Pawl, about what is really to be done; whoever may write the question could make it look like something else.
    return { status: 202, body: await verbs.ask({ ...question, kind: 'free' }) }
  },
  'POST /v1/messages': async (request, verbs) => {
    await verbs.notify((await readBody(request, Message, 'message')).text)
    return { status: 202, body: { sent: true } }
  },
}

/** What serves this request for a run with these verbs. */
export const routeFor = (method: string, path: string, { subtasks }: HeldVerbs): Route | undefined =>
  routes[`${method} ${path}`] ?? (subtasks && subtaskRoute(method, path, subtasks))

/** What there is for a run with these verbs. */
export const routesOf = ({ subtasks }: HeldVerbs): string[] => [...Object.keys(routes), ...(subtasks ? subtaskRoutes : [])]
