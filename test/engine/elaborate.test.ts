import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { isRestingEvent } from '../../src/domain/event/event.ts'
import { eventsUntil, loadTestConfig, makeHome, startEngine } from './home.ts'

it('whoever asks for a proposal that did not come about is told so, and nothing of what the program said', async () => {
  const home = await makeHome()
  onTestFinished(home.remove)
  const words = 'echo "cannot open /srv/keys/of-the-owner" >&2; exit 3'
  const agent = { adapter: 'custom', command: ['sh', '-c', words], profile: 'unattended-open', retries: 0 }
  await writeFile(join(home.path, 'config.yaml'), JSON.stringify({ agents: { writer: agent }, elaborate: { agent: 'writer' } }))
  const daemon = await startEngine(home.path, { config: await loadTestConfig(home.path) })
  onTestFinished(() => daemon.stop())
  const { id } = await daemon.runtime.elaborateTask({ text: 'make it work' }, { by: 'test' })
  await expect(daemon.runtime.getProposal(id)).rejects.toThrow(/there is a proposal when it is completed/)
  await eventsUntil(daemon, id, isRestingEvent)
  expect((await daemon.runtime.getTask(id)).runs.at(-1)?.message).toContain('/srv/keys')
  const told = await daemon.runtime.getProposal(id).catch((error: Error) => error.message)
  expect(told).toMatch(new RegExp(`No proposal came of it: task ${id} is failed`))
  expect(told).not.toContain('/srv/keys')
})
