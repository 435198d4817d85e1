import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { z } from 'zod'
import type { Daemon } from '../../src/daemon/daemon.ts'
import type { Description } from '../../src/surfaces/http/describe.ts'
import { nouns } from '../../src/surfaces/http/examples/nouns.ts'
import type { Schema } from '../../src/surfaces/http/examples/sample.ts'
import { loadTestConfig, makeHome, startEngine } from '../engine/home.ts'

let home: Awaited<ReturnType<typeof makeHome>>
let daemon: Daemon
let token: string
let document: Description
beforeAll(async () => {
  home = await makeHome()
  const config = await loadTestConfig(home.path)
  daemon = await startEngine(home.path, { config: { ...config, server: { ...config.server, port: 0 } }, http: true })
  token = (await readFile(join(home.path, 'token'), 'utf8')).trim()
  document = (await (await ask('GET', '/api/v1/openapi.json')).json()) as Description
})
afterAll(async () => {
  await daemon.stop()
  await home.remove()
})
const ask = (method: string, path: string, body?: unknown) =>
  fetch(`${daemon.url}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      accept: 'application/json',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    signal: AbortSignal.timeout(20_000),
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
const operations = () =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ name: `${method.toUpperCase()} ${path}`, method, path, operation })),
  )

it('every request and every answer has an example, and each fits its schema', () => {
  const text = JSON.stringify(document.components.schemas).replaceAll('#/components/schemas/', '#/$defs/')
  const $defs = JSON.parse(text) as Record<string, object>
  const wrong: unknown[] = []
  let count = 0
  for (const { name, operation } of operations()) {
    const contents = [operation.requestBody, ...Object.values(operation.responses)].flatMap((part) =>
      Object.values(part?.content ?? {}),
    )
    for (const { schema, example } of contents) {
      if (!schema) continue
      count++
      const local = JSON.parse(JSON.stringify(schema).replaceAll('#/components/schemas/', '#/$defs/')) as object
      const read = z.fromJSONSchema({ ...local, $defs } as Parameters<typeof z.fromJSONSchema>[0]).safeParse(example)
      if (example === undefined || !read.success) wrong.push([name, read.error?.issues[0], example])
    }
  }
  expect(wrong).toEqual([])
  expect(count).toBeGreaterThan(150)
})

it('examples tell of one world: every field is one that there is, and nothing is a placeholder', () => {
  const { schemas } = document.components
  const unknown: string[] = []
  const placeholders: string[] = []
  const look = (value: unknown, asked: Schema, at: string): void => {
    const schema = asked.$ref === undefined ? asked : (schemas[asked.$ref.split('/').at(-1)!] ?? {})
    if (Array.isArray(value)) for (const item of value) look(item, schema.items ?? {}, `${at}[]`)
    else if (value !== null && typeof value === 'object')
      for (const [key, inner] of Object.entries(value)) {
        const field = schema.properties?.[key]
        if (field) look(inner, field, `${at}.${key}`)
        else if (schema.properties && !schema.additionalProperties && !schema.anyOf && !schema.oneOf) unknown.push(`${at}.${key}`)
      }
    else if (value === 'text' || value === 'example' || String(value).includes('1m7hb3qaj340h1e843'))
      placeholders.push(`${at}: ${value}`)
  }
  for (const { name, operation } of operations()) {
    // What answers with a noun that has no place in src/surfaces/http/examples yet is made from its schema alone.
    const named = [...JSON.stringify(operation).matchAll(/#\/components\/schemas\/(\w+)/g)].map(([, noun]) => noun!)
    if (named.some((noun) => !(noun in nouns))) continue
    for (const { schema, example } of Object.values(operation.requestBody?.content ?? {})) look(example, schema ?? {}, name)
    for (const [status, { content }] of Object.entries(operation.responses))
      for (const { schema, example } of Object.values(content ?? {})) look(example, schema ?? {}, `${name} ${status}`)
  }
  expect(unknown).toEqual([])
  expect(placeholders).toEqual([])
})

it('examples of requests, sent to a daemon, are understood', { timeout: 60_000 }, async () => {
  // These would end the daemon or what it does; a body of a form or a file is no JSON.
  const left = /shutdown|stop-all|sign-in|open$|doctor/
  const misunderstood: unknown[] = []
  let sent = 0
  for (const { name, method, path, operation } of operations()) {
    const body = operation.requestBody?.content['application/json']
    if (!body || left.test(path)) continue
    const ids: Record<string, string> = { scope: 'global', name: 'A_NAME', agent: 'demo' }
    const letter: Record<string, string> = {
      tasks: 't',
      questions: 'q',
      sessions: 's',
      recordings: 'r',
      quarantine: 'r',
      schedules: 'c',
    }
    const filled = path.replaceAll(
      /\{(\w+)\}/g,
      (_, key: string) => ids[key] ?? `${letter[path.split('/')[3]!] ?? 't'}_1m7hb3qaj340h1e843`,
    )
    const answer = await ask(method.toUpperCase(), filled, body.example)
    sent++
    const said = await answer.text()
    if (answer.status >= 500 || said.includes('The body is not right') || said.includes('There is nothing under this path'))
      misunderstood.push([name, answer.status, said.slice(0, 300)])
  }
  expect(misunderstood).toEqual([])
  expect(sent).toBeGreaterThan(20)
})

it('/docs shows every operation to whoever has come in, without a script, and what is described cannot inject', async () => {
  expect((await fetch(`${daemon.url}/docs`)).status).toBe(401)
  const answer = await ask('GET', '/docs')
  expect([answer.status, answer.headers.get('content-security-policy')]).toEqual([
    200,
    expect.stringContaining("default-src 'none'; style-src 'self'"),
  ])
  const page = await answer.text()
  for (const { method, path } of operations()) expect(page).toContain(`id="${method}-${path}"`)
  expect(page).toContain('-d &#39;{&quot;prompt&quot;:&quot;The calendar is wrong about leap years')
  expect(page).not.toMatch(/<script|<style|style="|https?:\/\/(?!127\.0\.0\.1)[^&]*"|onclick/)
  expect((await fetch(`${daemon.url}/docs.css`)).headers.get('content-type')).toBe('text/css; charset=utf-8')
  const targets = new Set([...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id))
  for (const [, link] of page.matchAll(/href="#([^"]+)"/g)) expect(targets).toContain(link)
})
