import { describe, expect, it } from 'vitest'
import { httpRequests } from './http.ts'

const found = (line: string) => httpRequests(new Map([['engine/some.ts', `const before = 1\n${line}\n`]]))

describe('a request by HTTP', () => {
  it.each([
    'const answer = await fetch(url)',
    'return globalThis.fetch(url, { signal })',
    'http.request({ host })',
    'const sent = https.get(url)',
    "import { request } from 'node:http'",
    "import { Agent, type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http'",
    "import { request as requestHttps } from 'node:https'",
    "import http from 'node:http'",
    "import * as https from 'node:https'",
    "import { Pool } from 'undici'",
    'const events = new EventSource(url)',
  ])('is found: %s', (line) => {
    expect(found(line)).toEqual([`engine/some.ts:2 ${line}`])
  })

  it.each([
    'const answer = await client.send(url, { signal })',
    'return app.fetch(request)',
    'const found = boss.fetch(queue)',
    'const prefetch = await prefetch(url)',
    '// Not fetch(url), which gives up after five minutes.',
    "import { createServer, type IncomingMessage } from 'node:http'",
    "import type { ClientRequest, request } from 'node:http'",
    "import { type request } from 'node:http'",
  ])('is not: %s', (line) => {
    expect(found(line)).toEqual([])
  })
})
