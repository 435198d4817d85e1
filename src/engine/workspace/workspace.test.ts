import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { agentUser } from '../../process/agent-user.ts'
import { guard, testPaths } from './testing.ts'
import { prepareWorkspace } from './workspace.ts'

let base: string
let root: string
let home: string
beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'pawl-prepare-'))
  root = join(base, 'ws')
  home = join(base, 'home')
  await mkdir(root)
  await mkdir(home)
  await chmod(root, 0o777)
})
afterEach(() => rm(base, { recursive: true, force: true }))

const modeFor = async (task: string) => {
  const prepared = await prepareWorkspace({
    path: root,
    own: false,
    user: agentUser,
    folder: join(home, 'workspaces'),
    task,
    fence: 1,
    without: home,
    paths: testPaths,
    signal: new AbortController().signal,
    onCopy: () => undefined,
  })
  return prepared.mode
}

it.runIf(process.getuid?.() === 0)(
  'what covers a workspace for a program that is kept is no reason to copy it for the next run',
  async () => {
    expect(await modeFor('t_1')).toBe('direct')
    const guarded = await guard(home, root)
    await guarded.settle({ stays: true })
    expect(await modeFor('t_2')).toBe('direct')
    await guarded.release()
    // The same folder, made by the user, is one that the agent may not write.
    await mkdir(join(root, '.vscode'))
    await writeFile(join(root, '.vscode/settings.json'), '{}')
    expect(await modeFor('t_3')).toBe('copy')
  },
)
