import { expect, test } from 'vitest'
import { login, sessionFiles } from './session-files.ts'

const id = '01a1de03-f204-73f1-a540-d5327fbf2880'

test('an id is a UUID and nothing else', () => {
  expect(sessionFiles.id.test(id)).toBe(true)
  for (const text of [`${id}\n`, `../${id}`, id.toUpperCase(), '', '*']) expect(sessionFiles.id.test(text)).toBe(false)
})

test('a conversation is looked for below the date of its beginning first, then beside those folders', () => {
  expect(sessionFiles.layouts(id)).toEqual([`.codex/sessions/*/*/*/rollout-*${id}.jsonl`, `.codex/sessions/rollout-*${id}.jsonl`])
})

test('a rebuilt conversation lies where the program looks for it', () => {
  const at = '2026-01-02T03:04:05.678Z'
  const built = sessionFiles.rebuild?.(
    [
      { kind: 'user', text: 'hello', at },
      { kind: 'tool', callId: 'c', tool: 'pawl.ask_user', input: undefined, isError: false, at },
    ],
    { vendorId: id, workspace: '/w', version: 'codex-cli 0.166.0' },
  )
  expect(built?.path).toBe(`.codex/sessions/2026/01/02/rollout-2026-01-02T03-04-05-${id}.jsonl`)
  const rows =
    built?.content
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line)) ?? []
  expect(rows[0]).toEqual({
    timestamp: at,
    type: 'session_meta',
    payload: { id, timestamp: at, cwd: '/w', originator: 'pawl', cli_version: '0.166.0', model_provider: 'pawl' },
  })
  expect(rows.slice(1).map((row) => row.payload.type)).toEqual([
    'message',
    'user_message',
    'function_call',
    'function_call_output',
  ])
  expect(rows[3].payload).toMatchObject({ name: 'pawl_ask_user', arguments: '{}' })
  expect(rows[3].payload.call_id).toBe(rows[4].payload.call_id)
  for (const row of rows) expect(row.timestamp).toBe(at)
})

test('of two logins the one that was refreshed later is the newer one', () => {
  const newness = (value: unknown) => login.files[0]?.newness(typeof value === 'string' ? value : JSON.stringify(value))
  const token = (exp: number) => `e30.${Buffer.from(JSON.stringify({ exp })).toString('base64url')}.x`
  expect(newness({ tokens: {}, last_refresh: '2026-01-01T00:00:00Z' })).toBe(Date.parse('2026-01-01T00:00:00Z'))
  expect(newness({ tokens: { access_token: token(5) } })).toBe(5000)
  expect(newness({ tokens: { access_token: 'opaque' } })).toBe(0)
  expect(newness({ OPENAI_API_KEY: 'sk' })).toBe(0)
  for (const text of ['', '{', 'null', '{}', '[]', '{"OPENAI_API_KEY":null}']) expect(newness(text)).toBeUndefined()
})
