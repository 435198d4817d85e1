import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import { until } from '../../../test/engine/until.ts'
import { isBusy } from '../../engine/base/working.ts'
import { sumOf, useOf } from './use.ts'

const started: ChildProcess[] = []
afterEach(() => {
  for (const child of started.splice(0)) process.kill(-child.pid!, 'SIGKILL')
})
function run(script: string, cwd?: string): number {
  const child = spawn('/bin/sh', ['-c', script], { stdio: 'ignore', detached: true, cwd })
  started.push(child)
  return child.pid!
}
async function used(pid: number, ms = 700) {
  const before = useOf(pid)!
  const since = performance.now()
  await pause(ms)
  return { before, after: useOf(pid)!, tookMs: performance.now() - since }
}

test('what a process below uses counts, also when it has ended', async () => {
  const pid = run('sh -c "while :; do :; done" & wait')
  await until(() => (useOf(pid)?.cpuMs ?? 0) > 50)
  const { before, after, tookMs } = await used(pid)
  expect(isBusy(before, after, tookMs)).toBe(true)
  const short = run(
    'i=0; while [ $i -lt 20 ]; do sh -c "j=0; while [ \\$j -lt 20000 ]; do j=\\$((j+1)); done"; i=$((i+1)); done; sleep 60',
  )
  await until(() => (useOf(short)?.cpuMs ?? 0) > 100)
})

test('a program that waits, or looks by a timer whether there is anything to do, is not busy', async () => {
  for (const script of [
    'sleep 60',
    'while :; do sleep 0.2; done',
    `exec "${process.execPath}" -e "setInterval(() => {}, 100)"`,
  ]) {
    const pid = run(script)
    // Its start is work.
    await pause(1_000)
    const { before, after, tookMs } = await used(pid, 1_500)
    expect(isBusy(before, after, tookMs), `${script} ${JSON.stringify([before, after])}`).toBe(false)
  }
})

test('a program that writes to a disk is busy', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'pawl-use-'))
  try {
    const pid = run('while :; do head -c 300000 /dev/zero > file; sleep 0.1; done', folder)
    await until(() => (useOf(pid)?.bytes ?? 0) > 0)
    const { before, after, tookMs } = await used(pid)
    expect(isBusy({ ...before, cpuMs: 0 }, { ...after, cpuMs: 0 }, tookMs)).toBe(true)
  } finally {
    for (const child of started.splice(0)) process.kill(-child.pid!, 'SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  }
})

test('a process that is gone tells nothing, and adds nothing to those that are there', () => {
  expect(useOf(2 ** 22 + 1)).toBeUndefined()
  const use = { cpuMs: 1, diskBytes: 2, bytes: 3 }
  expect(sumOf([undefined, use, use])).toEqual({ cpuMs: 2, diskBytes: 4, bytes: 6 })
  expect(sumOf([undefined])).toBeUndefined()
})
