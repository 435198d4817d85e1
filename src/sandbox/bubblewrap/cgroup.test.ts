import { spawn } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openTreeAccount, ownGroup, prepareGroup } from './cgroup.ts'

// A folder of plain files stands for the kernel's: what is written is what the kernel would be told. Whether this machine hands a group to
// a test differs from machine to machine.
let group: string
beforeEach(() => {
  group = mkdtempSync(join(tmpdir(), 'pawl-group-'))
  give('cgroup.controllers', 'cpu memory pids\n')
  give('cgroup.subtree_control', '')
  give('cgroup.procs', `${process.pid}\n`)
})
afterEach(() => rmSync(group, { recursive: true, force: true }))
const give = (file: string, content: string) => writeFileSync(join(group, file), content)
const told = (file: string) => readFileSync(join(group, file), 'utf8')

test('a group that was handed to us is divided, and we go down a step, because a divided group holds no processes', () => {
  expect(prepareGroup(group)).toBe(group)
  expect([told('cgroup.subtree_control'), told('pawl-supervisor/cgroup.procs')]).toEqual(['+memory +pids', String(process.pid)])
})

test('a group with processes of others is left alone, and so is one without the controllers', () => {
  give('cgroup.procs', `${process.pid}\n4194304\n`)
  expect(prepareGroup(group)).toBeUndefined()
  give('cgroup.procs', `${process.pid}\n`)
  give('cgroup.controllers', 'cpu\n')
  expect(prepareGroup(group)).toBeUndefined()
  expect(existsSync(join(group, 'pawl-supervisor'))).toBe(false)
})

test('in a service the processes that we started go down with us, in a login they stay', () => {
  const started = spawn('sleep', ['60'])
  const login = `${group}/login.scope`
  mkdirSync(login)
  for (const file of ['cgroup.controllers', 'cgroup.subtree_control']) copyFileSync(join(group, file), join(login, file))
  try {
    for (const folder of [group, login]) writeFileSync(join(folder, 'cgroup.procs'), `${process.pid}\n${started.pid}\n`)
    expect([prepareGroup(login), prepareGroup(group)]).toEqual([undefined, group])
    expect(told('pawl-supervisor/cgroup.procs')).toBe(String(started.pid))
  } finally {
    started.kill()
  }
})

test('a group that is divided already is used as it is, and what a killed Pawl left in it is removed', () => {
  give('cgroup.subtree_control', 'memory pids\n')
  give('cgroup.procs', '1\n2\n')
  mkdirSync(join(group, 'pawl-left-over'))
  expect(prepareGroup(group)).toBe(group)
  expect([existsSync(join(group, 'pawl-left-over')), told('cgroup.subtree_control')]).toEqual([false, 'memory pids\n'])
})

test('an account has the limits of its run, and tells whether the kernel had to end something', () => {
  mkdirSync(join(group, 'pawl-run_1.7'))
  for (const file of ['memory.oom.group', 'memory.swap.max']) give(`pawl-run_1.7/${file}`, '')
  const account = openTreeAccount(group, 'run/1.7', { processes: 12, openFiles: 1, memoryBytes: 5_000_000 })
  account?.add(4711)
  const wrote = (file: string) => told(`pawl-run_1.7/${file}`)
  expect(['pids.max', 'memory.max', 'memory.swap.max', 'memory.oom.group', 'cgroup.procs'].map(wrote)).toEqual([
    '12',
    '5000000',
    '0',
    '1',
    '4711',
  ])
  give('pawl-run_1.7/memory.events', 'low 0\noom 0\noom_kill 0\n')
  expect(account?.ranOutOfMemory()).toBe(false)
  give('pawl-run_1.7/memory.events', 'low 0\noom 1\noom_kill 3\n')
  expect(account?.ranOutOfMemory()).toBe(true)
})

test('where the kernel refuses there is no account, and nobody falls over it', () => {
  expect(openTreeAccount(join(group, 'cgroup.procs'), 'x', { processes: 1, openFiles: 1 })).toBeUndefined()
  expect(prepareGroup(join(group, 'nowhere'))).toBeUndefined()
  expect(ownGroup()).toBe(ownGroup())
})
