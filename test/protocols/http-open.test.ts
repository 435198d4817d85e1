import { expect, test } from 'vitest'
import { mountA2A } from '../../src/surfaces/a2a/mount.ts'
import { declaredRights } from '../../src/surfaces/http/needs.ts'
import { createMcpMount } from '../../src/surfaces/mcp/mount.ts'
import { fakeRuntime } from '../fake-runtime.ts'
import { surfaceOver } from '../http-peer.ts'

const mcp = createMcpMount({ load: () => Promise.reject(new Error('not asked')) })
const a2a = (publicCards: boolean) => mountA2A({ publicCards } as Parameters<typeof mountA2A>[0])
const openOf = (routes: Iterable<readonly [string, unknown]>) =>
  [...routes].flatMap(([route, right]) => (right === 'open' ? [route] : [])).toSorted()
const mounted = ({ routes }: ReturnType<typeof a2a> | typeof mcp) =>
  openOf(routes.map(({ method, path, right }) => [`${method} ${path}`, right]))

/** docs/promises.md and R1 name these. Whoever adds one changes all three. */
test('nothing answers without a token but what this list names', () => {
  // The files of the web UI hold nothing of the home; signing in needs a code.
  const page = /^GET \/(?!healthz|sign-in|api\/)/
  expect(openOf(declaredRights(surfaceOver(fakeRuntime()).app)).filter((route) => !page.test(route))).toEqual([
    'GET /healthz',
    'GET /sign-in',
    'POST /sign-in',
  ])
  // RFC 9728: how an MCP client without a token learns that it needs one.
  expect(mounted(mcp)).toEqual(['GET /.well-known/oauth-protected-resource', 'GET /.well-known/oauth-protected-resource/mcp'])
  expect(mounted(a2a(false))).toEqual([])
})

test('the setting publicCards opens the cards and their key, and nothing else of A2A', () => {
  expect(mounted(a2a(true))).toEqual([
    'GET /.well-known/agent-card.json',
    'GET /a2a/.well-known/agent-card.json',
    'GET /a2a/agents/:agent/.well-known/agent-card.json',
    'GET /a2a/jwks.json',
  ])
})
