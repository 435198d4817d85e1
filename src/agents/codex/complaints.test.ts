import { expect, test } from 'vitest'
import type { Turn } from '../port.ts'
import { hearComplaints } from './complaints.ts'

const notice = [
  '2026-11-15T16:23:34.510940Z ERROR codex_app_server: Project-local config, hooks, and exec policies are disabled in the following folders until the project is trusted, but skills still load.',
  '    1. /project/.codex',
  '       /project is marked as untrusted in the effective configuration. To load project-local config, hooks, and exec policies, update its trust setting.',
  '',
].join('\n')

async function heard(...chunks: string[]) {
  const events: Parameters<Turn['emit']>[0][] = []
  const complaints = hearComplaints(async (event) => void events.push(event))
  for (const chunk of chunks) await complaints.push(Buffer.from(chunk))
  await complaints.end()
  return { told: events, kept: complaints.kept.text() }
}
const told = (text: string) => ({ type: 'agent.stderr', data: { text } })

test('that the settings of a repository are not used is no complaint: it is neither told nor does it explain a failure', async () => {
  expect(await heard(notice)).toEqual({ told: [], kept: '' })
})

test('what is said before and after it is told and kept', async () => {
  expect(await heard(`before\n${notice}Error: it broke\n`)).toEqual({
    told: [told('before\nError: it broke')],
    kept: 'before\nError: it broke\n',
  })
  expect(await heard(notice, 'Error: it broke\n')).toEqual({ told: [told('Error: it broke')], kept: 'Error: it broke\n' })
})

test('other errors that it logs are told', async () => {
  const line = '2026-11-15T16:23:34.510940Z ERROR codex_core: cannot write the conversation'
  expect(await heard(`${line}\n    because the disk is full\n`)).toMatchObject({
    told: [told(`${line}\n    because the disk is full`)],
  })
})
