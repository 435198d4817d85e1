import { createHash, randomBytes } from 'node:crypto'
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Daemon } from '../../src/daemon/daemon.ts'
import { isRestingEvent } from '../../src/domain/event/event.ts'
import type { NewTask } from '../../src/domain/view/view.ts'
import { commandAgent, eventsUntil, loadTestConfig, makeHome, startEngine } from './home.ts'

const by = { by: 'test' }
const hashOf = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')
const png = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), randomBytes(100)])

async function* inPieces(bytes: Uint8Array, size = 70_000): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

async function wholeOf(content: { bytes(): AsyncIterable<Uint8Array>; close(): Promise<void> }): Promise<Buffer> {
  const pieces: Uint8Array[] = []
  for await (const piece of content.bytes()) pieces.push(piece)
  await content.close()
  return Buffer.concat(pieces)
}

describe('files of tasks', () => {
  let home: Awaited<ReturnType<typeof makeHome>>
  let daemon: Daemon
  beforeAll(async () => {
    home = await makeHome('pawl-files-')
    writeFileSync(join(home.path, 'config.yaml'), 'files: {artifacts: 6, artifactMb: 3, attachments: 3}\n', { mode: 0o600 })
    daemon = await startEngine(home.path, { config: await loadTestConfig(home.path) })
  })
  afterAll(async () => {
    await daemon.stop()
    await home.remove()
  })

  const hand = (name: string, bytes: Uint8Array, user?: string) =>
    daemon.runtime.addUpload(
      { name, content: inPieces(bytes), size: bytes.length },
      { ...by, ...(user ? { user, standing: 'operator' as const } : {}) },
    )
  const sh = (script: string) => commandAgent(['sh', '-c', script])
  const run = async (script: string, task: Partial<NewTask> = {}) => {
    const made = await daemon.runtime.createTask({ prompt: 'go', agentConfig: sh(script), ...task }, by)
    const events = await eventsUntil(daemon, made.task.id, isRestingEvent)
    return { id: made.task.id, events, task: await daemon.runtime.getTask(made.task.id) }
  }
  const left = async (task: string, name: string) => {
    const found = (await daemon.runtime.listArtifacts(task)).find((one) => one.name === name)
    return found && wholeOf((await daemon.runtime.readArtifact(task, found.id)).content)
  }
  const blobFiles = () =>
    readdirSync(join(home.path, 'blobs'), { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())

  test('reach the agent byte for byte, read-only, outside of its workspace, and what it leaves comes back the same', async () => {
    const large = randomBytes(2_500_000)
    const uploads = [
      await hand('picture.png', png),
      await hand('large.bin', large),
      await hand('picture.png', Buffer.from('two\n')),
    ]
    expect(uploads.map(({ type, size }) => [type, size])).toEqual([
      ['image/png', png.length],
      ['application/octet-stream', large.length],
      ['text/plain', 4],
    ])
    const script = `cat; cd "$PAWL_ATTACHMENTS" && for f in *; do cp "$f" "$PAWL_ARTIFACTS/$f"; done
      touch new 2>/dev/null && echo WRITABLE; echo more >>large.bin 2>/dev/null && echo CHANGED; rm -f large.bin 2>/dev/null && echo GONE; pwd`
    const { id, task, events } = await run(script, { attachments: uploads.map((one) => one.id) })
    const text = task.result?.text ?? ''
    expect(text).toContain(
      `go\n\nThese files were attached to the task. They can be read, not changed:\n- /run/pawl-attachments/${id}/picture.png (image/png, ${png.length} bytes)`,
    )
    expect(text).toContain(`/run/pawl-attachments/${id}/picture-2.png (text/plain, 4 bytes)`)
    expect(text).not.toMatch(/WRITABLE|CHANGED|GONE/)
    expect(task.settings.attachments?.map(({ name }) => name)).toEqual(['picture.png', 'large.bin', 'picture-2.png'])
    expect(task.artifacts).toBe(3)
    expect(await left(id, 'large.bin')).toEqual(large)
    expect(await left(id, 'picture.png')).toEqual(png)
    expect(await left(id, 'picture-2.png')).toEqual(Buffer.from('two\n'))
    const types = events.map(({ type }) => type)
    expect(types.filter((type) => type === 'artifact.added')).toHaveLength(3)
    expect(types.indexOf('artifact.added')).toBeLessThan(types.indexOf('run.ended'))
    // Kept once, in a file because it is large.
    expect(blobFiles().map(({ name }) => name)).toEqual([hashOf(large).slice(2)])
  })

  test('are there again for a task that goes on with the conversation, also where nothing was laid out yet', async () => {
    const first = await run('cat "$PAWL_ATTACHMENTS/note.txt"', {
      attachments: [(await hand('note.txt', Buffer.from('remember'))).id],
    })
    expect(first.task.result?.text.trim()).toBe('remember')
    // As on another machine.
    rmSync(join(home.path, 'attachments', first.task.session), { recursive: true })
    const next = await run(`cat /run/pawl-attachments/${first.id}/note.txt; echo "[$PAWL_ATTACHMENTS]"`, {
      session: first.task.session,
    })
    expect(next.task.result?.text).toContain('remember')
    expect(next.task.result?.text).toContain('[]')
    await daemon.runtime.retryTask(first.id, by)
    await eventsUntil(daemon, first.id, (event) => event.seq > first.events.length && isRestingEvent(event))
    expect((await daemon.runtime.getTask(first.id)).result?.text.trim()).toBe('remember')
  })

  test('are left only as plain files with one name, in bounds, and what is left out is said', async () => {
    const script = `cd "$PAWL_ARTIFACTS" && ln -s /etc/passwd link && mkfifo pipe && echo one >twice && ln twice again && mkdir -p deep/er && echo ok >deep/er/in.md
      head -c 4000000 /dev/zero >huge && echo x >'bad?name' && ln -s / out && echo fine >fine.txt`
    const { id, task, events } = await run(script)
    expect((await daemon.runtime.listArtifacts(id)).map(({ name, type }) => [name, type])).toEqual([
      ['deep/er/in.md', 'text/markdown'],
      ['fine.txt', 'text/plain'],
    ])
    const said = events.flatMap((event) =>
      event.type === 'run.noted' && event.data.code === 'artifacts_left_out' ? [event.data.detail] : [],
    )
    expect(said).toHaveLength(1)
    for (const name of ['link', 'pipe', 'twice', 'again', 'huge', 'bad?name', 'out']) expect(said[0]).toContain(name)
    expect(task.state).toBe('completed')
    const flood = await run('cd "$PAWL_ARTIFACTS" && for i in 1 2 3 4 5 6 7 8 9; do echo $i >$i; done; exit 1')
    expect(flood.task.artifacts).toBe(6)
    expect(flood.task.result?.outcome).toBe('failed')
    // Thousands of what is no file are not looked at to the last.
    const links = await run(
      'mkdir many && cd many && seq 10050 | xargs touch && cp -rs "$PWD" "$PAWL_ARTIFACTS/a" && cd .. && rm -r many && echo late >"$PAWL_ARTIFACTS/z.txt"',
    )
    expect([links.task.state, links.task.artifacts]).toEqual(['completed', 0])
    const detail = links.events.find((event) => event.type === 'run.noted' && event.data.code === 'artifacts_left_out')
    expect(JSON.stringify(detail?.data)).toMatch(/and 99\d\d more/)
  })

  test('are left under no name that holds a secret', async () => {
    const { id, events } = await run(
      'cd "$PAWL_ARTIFACTS" && mkdir -- "$PAWL_DOOR_TOKEN" && echo x >"$PAWL_DOOR_TOKEN/a" && echo y >"b-$PAWL_DOOR_TOKEN" && echo z >c',
    )
    expect((await daemon.runtime.listArtifacts(id)).map(({ name }) => name)).toEqual(['c'])
    const detail = events.find((event) => event.type === 'run.noted' && event.data.code === 'artifacts_left_out')
    expect(JSON.stringify(detail?.data).match(/its name holds a secret/g)).toHaveLength(2)
  })

  test('a task file that names files of somebody’s own machine is refused where they cannot be read', async () => {
    const text = '- prompt: look\n  name: shown\n  attachments: [/etc/hostname]\n'
    await expect(daemon.runtime.readTasks({ text }, by)).rejects.toThrow(/"shown" names attachments/)
  })

  test('a file that a later run leaves under the same name takes its place, and one that is the same is not told of again', async () => {
    const script = 'cd "$PAWL_ARTIFACTS"; echo same >same; date +%s%N >other'
    const { id, events } = await run(script)
    await daemon.runtime.retryTask(id, by)
    const all = await eventsUntil(daemon, id, (event) => event.seq > events.length && isRestingEvent(event))
    const names = all.flatMap((event) => (event.type === 'artifact.added' ? [event.data.name] : []))
    expect(names.toSorted()).toEqual(['other', 'other', 'same'])
    expect(await daemon.runtime.listArtifacts(id)).toHaveLength(2)
    const another = await run('ls "$PAWL_ARTIFACTS"', { session: (await daemon.runtime.getTask(id)).session })
    expect([another.task.result?.text.trim(), another.task.artifacts]).toEqual(['', 0])
  })

  test('are refused by name, size, number, kind and owner, and handing the same in again gives the same', async () => {
    for (const name of [
      '',
      '.',
      '..',
      '../x',
      'a/b',
      'a\\b',
      '/etc/passwd',
      'x\0y',
      '.hidden',
      'x ',
      'nul',
      'COM1.txt',
      'a\u202eb',
      'C:x',
      'x'.repeat(300),
    ])
      await expect(hand(name, png), name).rejects.toThrow('cannot be taken')
    await expect(hand('tool', Buffer.concat([Buffer.from('7f454c46', 'hex'), randomBytes(50)]))).rejects.toThrow('is a program')
    await expect(hand('empty', Buffer.alloc(0))).rejects.toThrow('is empty')
    await expect(hand('big', Buffer.alloc(11 * 1024 * 1024))).rejects.toThrow('larger than 10485760 bytes')
    const endless = daemon.runtime.addUpload({ name: 'big', content: inPieces(Buffer.alloc(11 * 1024 * 1024)) }, by)
    await expect(endless).rejects.toThrow('larger than 10485760 bytes')
    expect(readdirSync(join(home.path, 'blobs/unfinished'))).toEqual([])
    const mine = await hand('mine.txt', Buffer.from('mine'), 'ann')
    expect((await hand('mine.txt', Buffer.from('mine'), 'ann')).id).toBe(mine.id)
    expect((await hand('mine.txt', Buffer.from('mine'), 'ben')).id).not.toBe(mine.id)
    await expect(daemon.runtime.getUpload(mine.id, { ...by, user: 'ben', standing: 'operator' })).rejects.toThrow(
      'There is no file',
    )
    const attach = (ids: string[]) => daemon.runtime.createTask({ prompt: 'x', agentConfig: sh('true'), attachments: ids }, by)
    await expect(attach(['u_000000000000000000'])).rejects.toThrow('There is no file u_')
    await expect(attach([mine.id, mine.id, mine.id, mine.id])).rejects.toThrow('A task may have 3 files')
  })

  test('are gone with the last task that has them, and are not given out when they are damaged', async () => {
    const large = randomBytes(1_500_000)
    const upload = await hand('large.bin', large)
    const { id } = await run('cp "$PAWL_ATTACHMENTS/large.bin" "$PAWL_ARTIFACTS/copy.bin"', { attachments: [upload.id] })
    const file = join(home.path, 'blobs', hashOf(large).slice(0, 2), hashOf(large).slice(2))
    const changed = Buffer.from(large)
    changed[70_000] = changed[70_000]! ^ 1
    writeFileSync(file, changed)
    await expect(left(id, 'copy.bin')).rejects.toThrow('is damaged')
    // Handing it in again heals it.
    await hand('large.bin', large)
    expect(await left(id, 'copy.bin')).toEqual(large)
    const other = await hand('other.bin', randomBytes(1_200_000))
    const only = await run(
      'cp "$PAWL_ATTACHMENTS/other.bin" "$PAWL_ARTIFACTS/x"; cd "$PAWL_ARTIFACTS"; head -c 1300000 /dev/urandom >own',
      { attachments: [other.id] },
    )
    const own = (await daemon.runtime.listArtifacts(only.id)).find(({ name }) => name === 'own')!
    const ownFile = join(home.path, 'blobs', own.sha256.slice(0, 2), own.sha256.slice(2))
    expect(existsSync(ownFile)).toBe(true)
    await daemon.runtime.removeTask(only.id, by)
    expect(existsSync(ownFile)).toBe(false)
    expect(existsSync(join(home.path, 'attachments', only.task.session))).toBe(false)
    // Still handed in, for a day.
    expect(existsSync(join(home.path, 'blobs', other.sha256.slice(0, 2), other.sha256.slice(2)))).toBe(true)
  })
})

test('what was handed in and is in no task is forgotten after a day, and files that no row knows at the next start', async () => {
  const home = await makeHome('pawl-files-')
  try {
    let nowMs = Date.now()
    const clock = {
      now: () => nowMs,
      monotonic: () => performance.now(),
      after(ms: number, fn: () => void) {
        const timer = setTimeout(fn, ms)
        return () => clearTimeout(timer)
      },
    }
    const options = { config: await loadTestConfig(home.path), clock }
    const first = await startEngine(home.path, options)
    const bytes = randomBytes(1_100_000)
    const upload = await first.runtime.addUpload({ name: 'x.bin', content: inPieces(bytes) }, by)
    await first.stop()
    const folder = join(home.path, 'blobs', 'ab')
    const orphan = join(folder, 'c'.repeat(62))
    const { mkdirSync } = await import('node:fs')
    mkdirSync(folder, { recursive: true })
    writeFileSync(orphan, 'nobody knows')
    const second = await startEngine(home.path, options)
    await second.stop()
    expect(existsSync(orphan)).toBe(false)
    const kept = join(home.path, 'blobs', upload.sha256.slice(0, 2), upload.sha256.slice(2))
    expect(existsSync(kept)).toBe(true)
    nowMs += 25 * 3_600_000
    const third = await startEngine(home.path, options)
    await expect(third.runtime.getUpload(upload.id, by)).rejects.toThrow('There is no file')
    await third.stop()
    expect(existsSync(kept)).toBe(false)
  } finally {
    await home.remove()
  }
}, 60_000)
