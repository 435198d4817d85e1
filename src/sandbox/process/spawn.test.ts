import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, expect, test } from 'vitest'
import { start } from './spawn.ts'
import { signal } from './tree.ts'

const cwd = mkdtempSync(join(tmpdir(), 'pawl-spawn-'))
afterAll(() => rmSync(cwd, { recursive: true }))
const shell = (script: string) => start({ file: '/bin/sh', args: ['-c', script], env: { PATH: '/usr/bin:/bin' }, cwd })

test('a program that is not there, or not one, is refused with a sentence that names it', async () => {
  writeFileSync(join(cwd, 'text'), 'text')
  chmodSync(join(cwd, 'text'), 0o644)
  const begin = (file: string, folder = cwd) => start({ file, args: [], env: {}, cwd: folder })
  await expect(begin('/no/such/agent')).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringContaining('"/no/such/agent" was not found'),
  })
  await expect(begin(join(cwd, 'text'))).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringContaining('chmod +x'),
  })
  await expect(begin('/bin/true', '/no/such/folder')).rejects.toMatchObject({
    code: 'invalid',
    message: expect.stringContaining('/no/such/folder'),
  })
})

test('output that a grandchild keeps open ends soon after the exit, with all that was written', async () => {
  const child = await shell('setsid sleep 600 & echo $!; exit 4')
  const began = performance.now()
  const [out, err, exit] = await Promise.all([text(child.stdout), text(child.stderr), child.exited])
  expect(performance.now() - began).toBeLessThan(20_000)
  expect([err, exit]).toEqual(['', { code: 4, signal: null }])
  expect(signal(Number(out), 'SIGKILL')).toBe(true)
})

test('output that a grandchild keeps writing to ends after two seconds at the latest', async () => {
  const child = await shell('setsid sh -c "while :; do echo more; sleep 0.05; done" & echo $!; exit 0')
  const began = performance.now()
  const [out] = await Promise.all([text(child.stdout), child.exited])
  expect(performance.now() - began).toBeLessThan(20_000)
  expect(signal(-Number(out.split('\n').find((line) => /^\d+$/.test(line))), 'SIGKILL')).toBe(true)
})

test('a prompt that nobody reads breaks nothing', async () => {
  const child = await shell('exec 0<&-; exit 0')
  child.stdin.write('x'.repeat(1_000_000))
  expect(await child.exited).toEqual({ code: 0, signal: null })
  child.stdout.destroy()
  child.stderr.destroy()
})

test('what was written before the exit is read although this thread was busy for long', async () => {
  const child = await shell('setsid sleep 600 & echo $!; exec head -c 50000 /dev/zero')
  const out = text(child.stdout)
  await child.exited
  const until = performance.now() + 600
  while (performance.now() < until);
  const read = await out
  expect(read.length).toBeGreaterThan(50_000)
  expect(signal(Number.parseInt(read, 10), 'SIGKILL')).toBe(true)
  child.stderr.destroy()
})
