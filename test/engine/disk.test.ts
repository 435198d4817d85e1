import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, rm, statfs, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { commandAgent, eventsUntil, isResting, startEngine } from './home.ts'
import { giveDatabase } from './ready-database.ts'

/** A small disk of its own needs the right to mount one; elsewhere these are counted as skipped. */
const mayMount = process.getuid?.() === 0

describe.runIf(mayMount)('a full disk', () => {
  let disk: string
  const home = () => join(disk, 'home')

  beforeAll(async () => {
    disk = await mkdtemp(join(tmpdir(), 'pawl-disk-'))
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=200m', 'tmpfs', disk])
    await giveDatabase(home(), { inside: true })
  })
  afterAll(async () => {
    // Whoever of the database is about to end may hold a file for a moment longer.
    execFileSync('umount', ['--lazy', disk])
    await rm(disk, { recursive: true })
  })

  it('refuses new work while reading and finishing go on, and takes work again when there is room', async () => {
    const daemon = await startEngine(home())
    const agent = commandAgent(['/bin/sh', '-c', 'echo begun; while [ ! -e finish ]; do sleep 0.05; done; echo done'])
    const create = () => daemon.runtime.createTask({ prompt: 'x', agentConfig: agent }, { by: 'test' })
    const { task } = await create()
    await eventsUntil(daemon, task.id, (event) => event.type === 'agent.message')

    const { bavail, bsize } = await statfs(disk)
    await writeFile(join(disk, 'ballast'), Buffer.alloc(bavail * bsize - 4 * 1024 * 1024))
    await new Promise((done) => setTimeout(done, 1_100))
    await expect(create()).rejects.toMatchObject({ code: 'unavailable', message: expect.stringContaining('free some space') })
    await expect(daemon.runtime.ready()).rejects.toMatchObject({ code: 'unavailable' })
    expect((await daemon.runtime.getTask(task.id)).state).toBe('running')
    await writeFile(join(task.workspace, 'finish'), '')
    await eventsUntil(daemon, task.id, isResting)
    expect((await daemon.runtime.getTask(task.id)).result?.text).toBe('begun\ndone')

    await rm(join(disk, 'ballast'))
    const next = await create()
    await writeFile(join(next.task.workspace, 'finish'), '').catch(() =>
      mkdir(next.task.workspace).then(() => writeFile(join(next.task.workspace, 'finish'), '')),
    )
    await eventsUntil(daemon, next.task.id, isResting)
    await daemon.stop()
  })

  it('that leaves no room at all for the database loses nothing that was acknowledged', async () => {
    const daemon = await startEngine(home())
    const agent = commandAgent(['true'], { name: 'idle' })
    const acknowledged: string[] = []
    const { bavail, bsize } = await statfs(disk)
    // Not a byte is left for the write-ahead log to grow into.
    execFileSync('sh', ['-c', `head -c ${bavail * bsize} /dev/zero > "$1" || true`, 'sh', join(disk, 'ballast')], {
      stdio: 'ignore',
    })
    for (let n = 0; n < 20; n++) {
      await daemon.runtime.createTask({ prompt: 'x'.repeat(100_000), agentConfig: agent }, { by: 'test' }).then(
        ({ task }) => acknowledged.push(task.id),
        (error: { code: string }) => expect(error.code).toBe('unavailable'),
      )
    }
    await rm(join(disk, 'ballast'))
    for (const id of acknowledged) expect((await daemon.runtime.getTask(id)).prompt).toHaveLength(100_000)
    await daemon.stop()
  })
})
