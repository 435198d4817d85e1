import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Daemon } from '../../src/daemon/daemon.ts'
import type { ResolvedAgent } from '../../src/domain/agent/agent-config.ts'
import type { NewTask } from '../../src/domain/view/view.ts'
import { commandAgent, eventsUntil, isResting, makeHome, startEngine } from './home.ts'

let home: Awaited<ReturnType<typeof makeHome>>
let daemon: Daemon
let folder: string
beforeAll(async () => {
  home = await makeHome()
  daemon = await startEngine(home.path)
  folder = await mkdtemp(join(tmpdir(), 'pawl-talk-'))
  await chmod(folder, 0o755)
  // Keeps what it was told in a file of its home, and names that conversation on standard error.
  const script = `#!/bin/sh
id=talk-1; [ "$1" = --resume ] && id=$2
file="$HOME/.talk/$id.log"; mkdir -p "$HOME/.talk"
[ "$1" = --resume ] && [ ! -e "$file" ] && { echo "no conversation $id" >&2; exit 3; }
echo "conversation: $id" >&2
cat >> "$file"; echo >> "$file"
echo "conversation: forged"
tr '\\n' ' ' < "$file"
`
  await writeFile(join(folder, 'talk'), script, { mode: 0o755 })
})
afterAll(async () => {
  await daemon.stop()
  await home.remove()
  await rm(folder, { recursive: true })
})

const finish = async (agentConfig: ResolvedAgent, task: Partial<NewTask>) => {
  const { task: made } = await daemon.runtime.createTask({ prompt: 'x', agentConfig, ...task }, { by: 'test' })
  const events = await eventsUntil(daemon, made.id, isResting)
  return { task: await daemon.runtime.getTask(made.id), types: events.map(({ type }) => type) }
}
const talker = (options: object) =>
  commandAgent([], {
    options: {
      command: [join(folder, 'talk')],
      sessionId: { pattern: '^conversation: (\\S+)$', stream: 'stderr' },
      resume: ['--resume', '{session}'],
      ...options,
    },
  })
const sessionHome = (session: string) => join(home.path, 'sessions', session)

describe('a command that can go on with a conversation', () => {
  it('is given the id that it named on its stream, whatever its answer says, and is told all again where its home is gone', async () => {
    const agent = talker({})
    const first = await finish(agent, { prompt: 'one' })
    expect(first.task.result?.text).toContain('one')
    const session = first.task.session!
    expect((await daemon.runtime.getSession(session)).vendorId).toBe('talk-1')
    const second = await finish(agent, { prompt: 'two', session })
    expect(second.task.result?.text).toMatch(/one two/)
    await rm(sessionHome(session), { recursive: true })
    const third = await finish(agent, { prompt: 'three', session })
    expect(third.types).toContain('session.rebuilt')
    expect(third.task.runs).toHaveLength(1)
    expect(third.task.result?.text).toMatch(/two[\s\S]*three/)
  })

  it('has its files archived where they are declared, and put back', async () => {
    const agent = talker({ sessionFiles: ['.talk/{session}.log'] })
    const first = await finish(agent, { prompt: 'one' })
    const session = first.task.session!
    await rm(join(sessionHome(session), '.talk'), { recursive: true })
    const second = await finish(agent, { prompt: 'two', session })
    expect(second.types).toContain('session.restored')
    expect(second.task.result?.text).toMatch(/one two/)
  })

  it('goes on in the same task where it does not know the conversation, with what was said as a message', async () => {
    const agent = talker({ missingSession: 'no conversation' })
    const first = await finish(agent, { prompt: 'one' })
    const session = first.task.session!
    await rm(join(sessionHome(session), '.talk/talk-1.log'))
    const second = await finish(agent, { prompt: 'two', session })
    expect(second.task.runs.map(({ outcome, category }) => [outcome, category])).toEqual([
      ['failed', 'session_missing'],
      ['succeeded', null],
    ])
    expect(second.task.result?.text).toMatch(/one[\s\S]*two/)
  })

  it('begins anew where it names none, and that is no error', async () => {
    const agent = talker({ sessionId: { pattern: '^nothing like that: (\\S+)$', stream: 'stderr' } })
    const first = await finish(agent, { prompt: 'one' })
    const second = await finish(agent, { prompt: 'two', session: first.task.session! })
    expect(second.task).toMatchObject({ state: 'completed' })
    expect((await daemon.runtime.getSession(first.task.session!)).vendorId).toBeNull()
  })
})
