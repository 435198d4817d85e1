import { expect, test } from 'vitest'
import { sessionFiles } from './session-files.ts'

test.each(['ses_e1df67811ffe0GWiRgWR4RWl67', 'ses_0123456789'])('%s is a conversation', (id) =>
  expect(id).toMatch(sessionFiles.id),
)
test.each(['', 'ses_', '../ses_0123456789', 'ses_0123456789/..', '0b9e6c1e-5f0a-4d7b-9a51-3c1f2a6d8e70'])('%j is none', (id) =>
  expect(id).not.toMatch(sessionFiles.id),
)

test('its database counts with what has not been moved into it yet', () => {
  expect(sessionFiles.layouts('ses_0123456789')).toContain('.local/share/opencode/opencode.db')
  expect(sessionFiles.rewritten?.with).toEqual(['.local/share/opencode/opencode.db-wal'])
})

test('a conversation is made anew as an export, in which later ids are the greater ones', () => {
  const at = '2026-01-01T00:00:00.000Z'
  const { path, content } = sessionFiles.rebuild!(
    [
      { kind: 'user', text: 'one', at },
      { kind: 'agent', text: 'Looking.', at },
      { kind: 'tool', callId: 'c', tool: 'mcp__pawl__x y', input: { a: 1 }, output: 'seen', isError: false, at },
      { kind: 'tool', callId: 'c', tool: 'bash', input: null, isError: true, at },
      { kind: 'user', text: 'two', at },
    ],
    { vendorId: 'ses_0123456789', workspace: '/w', model: 'm' },
  )
  expect(path).toBe('.local/share/opencode/pawl-ses_0123456789.json')
  const made = JSON.parse(content)
  expect(made.info).toMatchObject({ id: 'ses_0123456789', directory: '/w' })
  expect(made.messages.map(({ info }: { info: { role: string } }) => info.role)).toEqual(['user', 'assistant', 'user'])
  const [asked, answered] = made.messages
  expect(answered.info).toMatchObject({ parentID: asked.info.id, providerID: 'pawl', modelID: 'm' })
  expect(answered.parts).toMatchObject([
    { type: 'text', text: 'Looking.' },
    { type: 'tool', tool: 'mcp__pawl__x_y', state: { status: 'completed', input: { a: 1 }, output: 'seen' } },
    { type: 'tool', tool: 'bash', state: { status: 'error', error: 'Nobody knows how this call ended.' } },
  ])
  const ids = made.messages.flatMap(({ info, parts }: { info: { id: string }; parts: { id: string }[] }) => [
    info.id,
    ...parts.map((part) => part.id.replace('prt', 'msg')),
  ])
  expect(ids).toEqual(ids.toSorted())
})
