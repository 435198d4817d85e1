import { createRoute, z } from '@hono/zod-openapi'
import { seesDetail } from '../../../domain/auth/detail.ts'
import { CheckOutput, ProofView, VerifyView } from '../../../domain/task/check.ts'
import { type App, api, callerOf, type Parts } from '../app.ts'
import { needs } from '../needs.ts'
import { json, problems, strict } from '../schemas.ts'
import { TaskPath } from './tasks.ts'

const Proof = z.object(ProofView.shape).openapi('Proof')
const Output = z.object(CheckOutput.shape).openapi('CheckOutput')
const Verdict = z.object(VerifyView.shape).openapi('Verdict')

const list = createRoute({
  method: 'get',
  path: `${api}/tasks/{id}/checks`,
  ...needs('read_task'),
  summary: 'The checks of a task that Pawl ran itself, as a chain of hashes.',
  request: { params: TaskPath, query: strict({}) },
  responses: { 200: json(Proof, 'All of them, in their order.'), ...problems },
})

const output = createRoute({
  method: 'get',
  path: `${api}/tasks/{id}/checks/{number}/output`,
  ...needs('read_task'),
  summary: 'What a check of a task printed, at most the last 200,000 characters.',
  request: { params: TaskPath.extend({ number: z.coerce.number().int().min(1) }), query: strict({}) },
  responses: { 200: json(Output, 'Its output; null if it is not kept any more.'), ...problems },
})

const verify = createRoute({
  method: 'get',
  path: `${api}/tasks/{id}/checks/verdict`,
  ...needs('read'),
  summary: 'Is the work of a task proved? Walks the chain and looks at the workspace; runs nothing.',
  request: { params: TaskPath, query: strict({}) },
  responses: { 200: json(Verdict, 'What the chain proves.'), ...problems },
})

const recheck = createRoute({
  method: 'post',
  path: `${api}/tasks/{id}/checks`,
  ...needs('work'),
  summary: 'Run the checks of a task once more. Answers when they begin; `isChecking` tells when they have ended.',
  request: {
    params: TaskPath,
    query: strict({}),
    body: { content: { 'application/json': { schema: strict({}) } } },
  },
  responses: { 202: json(Proof, 'They are being run.'), ...problems },
})

export function checkRoutes(app: App, { runtime }: Parts): void {
  // What kept the checks from being run is a matter of the machine.
  const shown = <T extends ProofView>(c: Parameters<typeof callerOf>[0], proof: T): T =>
    proof.trouble === null || seesDetail(callerOf(c).standing)
      ? proof
      : { ...proof, trouble: 'The checks could not be run again.' }
  app.openapi(list, async (c) => c.json(shown(c, await runtime.listChecks(c.req.valid('param').id)), 200))
  app.openapi(output, async (c) => {
    const { id, number } = c.req.valid('param')
    return c.json(await runtime.readCheckOutput(id, number), 200)
  })
  app.openapi(verify, async (c) => c.json(shown(c, await runtime.verifyTask(c.req.valid('param').id)), 200))
  app.openapi(recheck, async (c) => c.json(await runtime.recheckTask(c.req.valid('param').id, callerOf(c)), 202))
}
