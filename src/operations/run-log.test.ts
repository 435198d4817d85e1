import { rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { commandAgent, eventsUntil, isResting, makeHome, startEngine } from '../../test/engine/home.ts'

test('a log is read in pieces that are whole signs, from the end or from anywhere, and never through a link', async () => {
  const home = await makeHome()
  const daemon = await startEngine(home.path)
  onTestFinished(async () => {
    await daemon.stop()
    await home.remove()
  })
  const agentConfig = commandAgent([
    '/bin/sh',
    '-c',
    'printf "aä€😀z"; echo "Authorization: Bearer abcdefgh12345678abcdefgh" >&2',
  ])
  const { task } = await daemon.runtime.createTask({ prompt: 'x', agentConfig }, { by: 'test' })
  await eventsUntil(daemon, task.id, isResting)
  const run = (await daemon.runtime.getTask(task.id)).runs[0]!.id
  const read = (which: { start?: number; length: number }) =>
    daemon.runtime.readRunLog(task.id, run, { stream: 'stdout', ...which })
  expect(await read({ length: 100 })).toMatchObject({ start: 0, end: 11, size: 11, text: 'aä€😀z' })
  const texts: string[] = []
  for (let start = 0; start < 11; ) {
    const part = await read({ start, length: 5 })
    texts.push(part.text)
    start = part.end
  }
  expect(texts.join('')).toBe('aä€😀z')
  expect(await read({ length: 3 })).toMatchObject({ text: 'z', start: 10 })
  expect(await read({ start: 99, length: 3 })).toMatchObject({ text: '', start: 11, end: 11 })
  const stderr = await daemon.runtime.readRunLog(task.id, run, { stream: 'stderr', length: 1000 })
  expect(stderr.text).toContain('[redacted:authorization]')
  await expect(daemon.runtime.readRunLog(task.id, 'r_000000000000000000', { stream: 'stdout', length: 1 })).rejects.toThrow(
    'has no run',
  )

  const folder = join(home.path, 'runs', run)
  // As long as the secret was, and the same in a part as in the whole, also where two blocks meet.
  const block = 1024 * 1024
  const secret = 'sk-abcdefghij1234567890abcdefghij'
  const long = `${'x'.repeat(block - 11)} ${secret}\n${'y'.repeat(block)}end`
  await writeFile(join(folder, 'stderr.log'), long)
  const open = await daemon.runtime.openRunLog(task.id, run, 'stderr')
  const bytesOf = async (from: number, to: number) => {
    const pieces: Uint8Array[] = []
    for await (const piece of open.bytes({ from, to })) pieces.push(piece)
    return Buffer.concat(pieces).toString()
  }
  const all = await bytesOf(0, open.size)
  expect(all).toBe(long.replace(secret, '[redacted:api key]'.padEnd(secret.length, '*')))
  for (const [from, to] of [
    [block - 5, block + 5],
    [block, open.size],
    [3, 3],
  ] as const)
    expect(await bytesOf(from, to)).toBe(all.slice(from, to))
  await open.close()
  // A page that asks piece by piece never gets half of one, wherever it cuts.
  const at = long.indexOf(secret)
  for (const cut of [at + 1, at + 3, at + 10, at + secret.length - 1]) {
    const piece = (start: number, length: number) => daemon.runtime.readRunLog(task.id, run, { stream: 'stderr', start, length })
    const [before, after] = [await piece(cut - 100, 100), await piece(cut, 100)]
    expect(before.text + after.text).toBe(all.slice(cut - 100, cut + 100))
  }

  await rm(join(folder, 'stderr.log'))
  const silent = await daemon.runtime.readRunLog(task.id, run, { stream: 'stderr', length: 10 })
  expect(silent).toEqual({ run, stream: 'stderr', start: 0, end: 0, size: 0, text: '' })

  await rm(join(folder, 'stdout.log'))
  await expect(daemon.runtime.readRunLog(task.id, run, { stream: 'stderr', length: 1 })).rejects.toThrow('no raw stderr')
  await expect(read({ length: 1 })).rejects.toThrow('no raw stdout on this machine')
  await writeFile(join(home.path, 'secret'), 'SECRET')
  await symlink(join(home.path, 'secret'), join(folder, 'stdout.log'))
  await expect(read({ length: 10 })).rejects.toThrow('no raw stdout on this machine')
})
