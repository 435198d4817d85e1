import { chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hostPath, sandboxPath } from '../../domain/base/path.ts'
import { createBubblewrap } from '../../sandbox/bubblewrap/sandbox.ts'
import type { Walls } from '../../sandbox/port.ts'
import { createRunInside } from './run-inside.ts'
import { createStrictTools } from './strict.ts'

describe.runIf(process.platform === 'linux')('Bash and the file tools around real walls', () => {
  const sandbox = createBubblewrap()
  let base: string
  let walls: Walls
  beforeAll(async () => {
    const { user } = await sandbox.probe()
    base = mkdtempSync(join(tmpdir(), 'pawl-inside-'))
    const place = (name: string) => {
      mkdirSync(join(base, name))
      if (user) chownSync(join(base, name), user.uid, user.gid)
      return join(base, name)
    }
    writeFileSync(join(base, 'secret'), 'outside')
    walls = {
      ...{
        unit: sandbox.killUnit(`inside-${process.pid}`, 1),
        workspace: { source: hostPath(place('copy')), path: sandboxPath(place('project')) },
      },
      ...{
        home: hostPath(place('home')),
        hidden: [],
        user,
        network: 'none',
        door: false,
        limits: { processes: 64, openFiles: 256 },
      },
    }
  })
  afterAll(() => rmSync(base, { recursive: true, force: true }))

  it('see and own the same files under the same paths', async () => {
    const { source, path } = walls.workspace
    const tools = await createStrictTools({
      roots: [{ source, path, mode: 'rw' }],
      user: walls.user,
      permit: async () => ({ allow: true }),
      runInside: createRunInside(async (command) => (await sandbox.launch({ ...command, env: {} }, walls)).child),
    })
    const verbs = { consult: async () => undefined, notify: async () => undefined }
    const call = (name: string, input: object) =>
      tools.find((tool) => tool.name === name)!.call(input, verbs, new AbortController().signal)
    expect(await call('Write', { file_path: 'made/by-us.txt', content: 'one' })).toBe(`Wrote ${path}/made/by-us.txt (3 bytes).`)
    expect(
      await call('Bash', {
        command: 'pwd; cat made/by-us.txt; echo; echo two > made/by-us.txt && rm -r made && mkdir new && echo three > new/a',
      }),
    ).toBe(`${path}\none`)
    expect(await call('Read', { file_path: `${path}/new/a` })).toBe('     1\tthree')
    expect(await call('Edit', { file_path: 'new/a', old_string: 'three', new_string: 'four' })).toMatch(/^Changed/)
    expect(
      await call('Bash', {
        command: `cat new/a; cat ${join(base, 'secret')} 2>/dev/null || echo hidden; ln -s ${join(base, 'secret')} out`,
      }),
    ).toBe('four\nhidden')
    await expect(call('Read', { file_path: 'out' })).rejects.toThrow(/outside of what this run may use/)
  })
})
