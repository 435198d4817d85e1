import { chmod, mkdir, readdir, readFile, realpath, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Daemon } from '../../src/daemon/daemon.ts'
import type { NewTask } from '../../src/domain/view/view.ts'
import { commandAgent, eventsUntil, isResting, makeHome, startEngine } from './home.ts'

describe('mounts of a user and of a task', () => {
  let home: Awaited<ReturnType<typeof makeHome>>
  let outside: string
  let removeOutside: () => Promise<void>
  let daemon: Daemon

  beforeAll(async () => {
    home = await makeHome()
    const folder = await makeHome()
    removeOutside = folder.remove
    outside = await realpath(folder.path)
    await chmod(outside, 0o755)
    for (const name of ['shared', 'projects', 'projects/shop', 'projects/shop/src', 'closed']) {
      await mkdir(join(outside, name))
      await chmod(join(outside, name), 0o777)
    }
    await writeFile(join(outside, 'projects/shop/price'), '12')
    await symlink(join(outside, 'closed'), join(outside, 'projects/out'))
    await writeFile(
      join(home.path, 'config.yaml'),
      `users:
  anna:
    mounts:
      - ${outside}/shared:rw
      - { path: ${outside}/notes, persistent: true, name: notes, description: what was learnt }
      - ${outside}/gone
mounts:
  projects: { path: ${outside}/projects, mode: rw, description: what we build }
  reference: { path: ${outside}/shared }
  closed: { path: ${outside}/closed, users: [bert] }
`,
    )
    daemon = await startEngine(home.path)
    await daemon.entrance.createUser({ name: 'anna' }, { by: 'test' })
  })
  afterAll(async () => {
    await daemon.stop()
    await home.remove()
    await removeOutside()
  })

  const create = (task: Partial<NewTask>, user?: string) =>
    daemon.runtime.createTask(
      { prompt: 'x', ...task },
      user === undefined ? { by: 'test' } : { by: user, user, standing: 'operator' },
    )
  const shell = async (script: string, task: Partial<NewTask> = {}, user?: string) => {
    const options = { command: ['/bin/sh', '-c', script, 'sh'], systemPromptFlag: '-t' }
    // Whole agents are the admins' to name; whose the task is decides what it sees.
    const agentConfig = commandAgent([], { options })
    const caller = user === undefined ? { by: 'test' } : { by: user, user }
    const { id } = (await daemon.runtime.createTask({ prompt: 'x', agentConfig, ...task }, caller)).task
    const events = await eventsUntil(daemon, id, isResting)
    return { events, task: await daemon.runtime.getTask(id) }
  }

  it('a user has theirs under every profile: the persistent one is made and writable at its own path, what is missing is left out', async () => {
    const script = `echo x >> ${outside}/notes/n; echo y > ${outside}/shared/y; cat ${outside}/notes/n; echo "$PAWL_MOUNTS"`
    const { task, events } = await shell(script, {}, 'anna')
    expect(task.result?.text.split('\n')).toEqual([
      'x',
      `- ${outside}/notes (may be written, of this user, kept between tasks): notes, what was learnt`,
      `- ${outside}/shared (may be written, of this user): shared`,
    ])
    expect((await shell(script, {}, 'anna')).task.result?.text).toMatch(/^x\nx\n/)
    expect(await readFile(join(outside, 'notes/n'), 'utf8')).toBe('x\nx\n')
    expect(events).toContainEqual(
      expect.objectContaining({
        data: { code: 'mount_missing', detail: expect.stringContaining('The mount "gone" of the user') },
      }),
    )
  })

  it('nobody has those of another', async () => {
    const { task } = await shell(`ls -A ${outside} 2>&1; echo "$PAWL_MOUNTS"`)
    expect(task.result?.text).toContain('No such file')
  })

  it('a task names a part of what the settings offer, by base, part, alias and mode, and sees it at its own path and at the alias', async () => {
    const { task } = await shell(
      `cat ${outside}/projects/shop/price /mnt/shop/price; echo 13 > /mnt/shop/new; ls ${outside}/projects; touch ${outside}/shared/no 2>&1 | grep -o 'Read-only'`,
      { mounts: [{ base: 'projects', subpath: 'shop', alias: 'shop', mode: 'rw' }, { base: 'reference' }] },
    )
    expect(task.result?.text).toBe('1212shop\nRead-only')
    expect(await readFile(join(outside, 'projects/shop/new'), 'utf8')).toBe('13\n')
    expect(await readdir(join(outside, 'shared'))).not.toContain('no')
    expect(task.settings.mounts).toEqual([
      { base: 'projects', subpath: 'shop', alias: 'shop', mode: 'rw' },
      { base: 'reference' },
    ])
  })

  it('what the agent says of a place inside is shown as the place that the user knows', async () => {
    const { task, events } = await shell('echo "I wrote /mnt/shop/src/a.ts, not /var/mnt/shop."', {
      mounts: [{ base: 'projects', subpath: 'shop', alias: 'shop' }],
    })
    const wanted = `I wrote ${outside}/projects/shop/src/a.ts, not /var/mnt/shop.`
    expect(task.result?.text).toBe(wanted)
    expect(JSON.stringify(events.filter(({ type }) => type.startsWith('agent.')))).not.toContain(' /mnt/shop')
  })

  const refusals: [what: string, task: Partial<NewTask>, says: string | RegExp][] = [
    ['a base that is not there', { mounts: [{ base: 'project' }] }, 'did you mean "projects"?'],
    ['writing where the base is read-only', { mounts: [{ base: 'reference', mode: 'rw' }] }, 'is read-only for tasks'],
    ['a part above the base', { mounts: [{ base: 'projects', subpath: '../closed' }] }, 'must be a path below it'],
    ['a part behind a link that leads out', { mounts: [{ base: 'projects', subpath: 'out' }] }, 'leads out of'],
    ['a part that is not there', { mounts: [{ base: 'projects', subpath: 'gone' }] }, 'is not there'],
    ['one place twice', { mounts: [{ base: 'projects' }, { base: 'projects', subpath: '.' }] }, 'is named twice'],
    [
      'one alias twice',
      {
        mounts: [
          { base: 'projects', alias: 'a' },
          { base: 'reference', alias: 'a' },
        ],
      },
      'have the alias "a"',
    ],
  ]
  it.each(refusals)('%s is refused', async (_, task, says) => {
    await expect(create({ agent: 'demo', ...task })).rejects.toThrow(says)
  })

  it('a base of others is not even told of, and hooks name none', async () => {
    const asked = { agent: 'demo', mounts: [{ base: 'closed' }] }
    await expect(create(asked, 'anna')).rejects.toThrow(/There is no mount "closed".*Tasks may name: projects, reference\./)
    const hook = { by: 'hook', user: 'anna', standing: 'hook' as const }
    await expect(daemon.runtime.createTask({ prompt: 'x', ...asked }, hook)).rejects.toThrow('may not choose "mounts"')
  })
})
