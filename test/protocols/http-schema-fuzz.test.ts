import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { z } from 'zod'
import { systemClock } from '../../src/base/clock.ts'
import { silentLog } from '../../src/base/log.ts'
import { newId } from '../../src/domain/id.ts'
import { createAudit } from '../../src/engine/auth/audit.ts'
import { createEntrance } from '../../src/engine/auth/auth.ts'
import type { HttpSurface } from '../../src/surfaces/http/server.ts'
import { makeParts } from '../engine/store.ts'
import { type FakeRuntime, fakeRuntime } from '../fake-runtime.ts'
import { ask, surfaceOver, token } from '../http-peer.ts'
import { around, hostile, type Schema } from './schema-arbitrary.ts'

interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly schema: Schema }[]
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> }
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

/** Requests in all, made from our own description: right ones, nearly right ones, and hostile ones. 20,000 of them: npm run show:http-fuzz */
const total = Number(process.env.FUZZ_REQUESTS ?? 2_000)
let surface: HttpSurface
let runtime: FakeRuntime
let close: () => Promise<void>
const document = (await ask(surfaceOver(fakeRuntime()), 'GET', '/api/v1/openapi.json')).json as Document
const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
)

beforeAll(async () => {
  const { db } = await makeParts((end) => {
    close = end
  })
  const audit = createAudit({ db, log: silentLog, clock: systemClock })
  runtime = fakeRuntime()
  surface = surfaceOver(runtime, {
    audit,
    entrance: createEntrance({ db, log: silentLog, audit, clock: systemClock, homeToken: token }),
  })
})
afterAll(() => close())

const existing = async (): Promise<Record<string, string>> => {
  const { task } = await runtime.createTask({ prompt: 'p' }, { by: 'test' })
  return { tasks: task.id, sessions: task.session, questions: runtime.ask(task.id, 'which?').id, tokens: newId('token', 0) }
}

/** As a word of an address. An object with a field of its own called toString has no other text. */
const asText = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))

/** The schema that a route promises for an answer of this status. */
function promised(method: string, path: string, status: number): z.ZodType | undefined {
  const definition = surface.app.openAPIRegistry.definitions.find(
    (one) => one.type === 'route' && one.route.path === path && one.route.method.toUpperCase() === method,
  )
  if (definition?.type !== 'route') return undefined
  const response = definition.route.responses[String(status)] as { content?: Record<string, { schema?: z.ZodType }> } | undefined
  return response?.content?.['application/json']?.schema
}

for (const { method, path, operation } of operations)
  test(`${method} ${path}: whatever is sent is taken or refused with a sentence`, async () => {
    const known = await existing()
    const { schemas } = document.components
    const noun = path.split('/')[3]!
    const word = fc.oneof(hostile.map(asText), fc.string({ unit: 'binary', maxLength: 30 }))
    const param = fc.oneof({ arbitrary: fc.constant(known[noun] ?? 'some-name'), weight: 3 }, { arbitrary: word, weight: 1 })
    const query = fc.record(
      Object.fromEntries(
        (operation.parameters ?? [])
          .filter((one) => one.in === 'query')
          .map((one) => [one.name, fc.oneof(around(one.schema, schemas).map(asText), word)]),
      ),
      { requiredKeys: [] },
    )
    const bodySchema = operation.requestBody?.content['application/json']?.schema
    const body = bodySchema ? fc.option(around(bodySchema, schemas), { nil: undefined }) : fc.constant(undefined)
    const shown = fc.constantFrom('application/json', 'text/event-stream, application/json', '*/*')
    await fc.assert(
      fc.asyncProperty(param, query, body, shown, async (id, asked, json, accept) => {
        const where = path.replace(/\{\w+\}/, encodeURIComponent(id.toWellFormed()))
        const search = new URLSearchParams(asked as Record<string, string>)
        const answer = await ask(surface, method, `${where}${search.size > 0 ? `?${search}` : ''}`, {
          headers: { accept },
          ...(json === undefined ? {} : { json: JSON.stringify(json) ?? 'null' }),
        })
        expect(answer.status).toBeLessThan(500)
        expect(answer.text).not.toMatch(/node_modules|\n\s+at /)
        if (answer.status < 400) {
          const schema = promised(method, path, answer.status)
          if (schema && answer.json !== undefined) expect(schema.safeParse(answer.json).error).toBeUndefined()
        } else if (answer.json !== undefined)
          expect(answer.json).toMatchObject({ status: answer.status, code: expect.any(String), detail: expect.any(String) })
      }),
      { numRuns: Math.ceil(total / operations.length) },
    )
  })
