import { chmod, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createClient } from '../../src/client/index.ts'
import { bundle } from '../bundle.ts'
import { serve } from '../e2e/pawl.ts'
import { makeHome, until } from '../engine/home.ts'

it('an agent of one Pawl is another Pawl: what the inner one asks is asked outside, and both have it in their journals', {
  timeout: 180_000,
}, async () => {
  const [outer, inner] = [await makeHome('pawl-outer-'), await makeHome('pawl-inner-')]
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'pawl-both-ws-')))
  await chmod(folder, 0o777)
  // It is a client of a daemon of its own home, which no walls of ours show.
  const program = join(outer.path, 'inner-pawl')
  const { pawl: bin } = await bundle()
  await writeFile(program, `#!/bin/sh\nPAWL_HOME=${inner.path} exec ${process.execPath} ${bin} acp --agent demo\n`, {
    mode: 0o755,
  })
  const settings = { agents: { nested: { adapter: 'acp', command: [program], profile: 'unattended-open' } } }
  await writeFile(join(outer.path, 'config.yaml'), JSON.stringify(settings), { mode: 0o600 })
  const daemons = [await serve(outer.path), await serve(inner.path)] as const
  try {
    const [outside, inside] = daemons.map((daemon) => createClient(daemon)) as [
      ReturnType<typeof createClient>,
      ReturnType<typeof createClient>,
    ]
    const { task } = await outside.createTask({ prompt: 'look around', agent: 'nested', workspace: folder })
    const resting = (wanted: string) =>
      until(async () => {
        const seen = await outside.getTask(task.id)
        if (['failed', 'timed_out'].includes(seen.state)) throw new Error(JSON.stringify(seen))
        return seen.state === wanted ? seen : undefined
      }, 90_000)
    const asking = await resting('blocked')
    const question = asking.questions.find(({ state }) => state === 'pending')!
    const asked = await inside.listQuestions({ state: 'pending' })
    expect(asked).toHaveLength(1)
    expect(question.text).toContain(asked[0]!.text)
    expect(question.options).toEqual(asked[0]!.options)
    await outside.answerQuestion(question.id, question.options[0]!)
    const done = await resting('completed')
    expect(done.result?.text).toContain('You asked: look around')

    const { items } = await inside.listTasks({ limit: 10 })
    expect(items).toMatchObject([
      { agent: 'demo', state: 'completed', workspace: folder, prompt: expect.stringContaining('look around') },
    ])
    const events = (await inside.readEvents(items[0]!.id, { limit: 500 })).items
    expect(events.find(({ type }) => type === 'question.answered')).toBeDefined()
    // The next task of the session is the next prompt of the same conversation inside.
    const next = await outside.createTask({ prompt: 'again --no-question', agent: 'nested', session: task.session })
    await until(async () => (await outside.getTask(next.task.id)).state === 'completed', 90_000)
    const both = (await inside.listTasks({ limit: 10 })).items
    expect(both).toHaveLength(2)
    expect(new Set(both.map(({ session }) => session)).size).toBe(1)
  } finally {
    for (const daemon of daemons) {
      daemon.process.kill('SIGTERM')
      await daemon.ended
    }
    await outer.remove()
    await inner.remove()
    await rm(folder, { recursive: true, force: true })
  }
})
