import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import { expect, onTestFinished, test } from 'vitest'
import { childrenOf, descendantsOf, isAlive, processIdentity } from './identity.ts'

test('a process is alive until it ends, and a later one with its number is another', async () => {
  const child = spawn('sleep', ['600'])
  await once(child, 'spawn')
  const identity = processIdentity(child.pid)
  expect(isAlive(identity)).toBe(true)
  expect(isAlive({ ...identity, startTime: identity.startTime - 1 })).toBe(false)
  expect(childrenOf(process.pid)).toContain(child.pid)
  child.kill('SIGKILL')
  await once(child, 'exit')
  expect(isAlive(identity)).toBe(false)
})

test('nothing is claimed about a process of another boot, machine or container', () => {
  expect(isAlive(processIdentity())).toBe(true)
  expect(isAlive({ ...processIdentity(), bootId: 'another' })).toBeUndefined()
})

test('a program whose name looks like the fields after it is read right', async () => {
  const child = spawn('sh', ['-c', 'printf ") Z 1 1" > /proc/self/comm; echo ok; read _'], { stdio: ['pipe', 'pipe', 'inherit'] })
  await once(child.stdout, 'data')
  const identity = processIdentity(child.pid)
  expect(identity.startTime).toBeGreaterThanOrEqual(processIdentity().startTime)
  expect(isAlive(identity)).toBe(true)
  child.stdin.end('\n')
  await once(child, 'exit')
})

test('every process below one is found, also one that a thread has started, and none that has ended', async () => {
  const before = descendantsOf(process.pid)
  const script =
    "const { spawn } = require('node:child_process'); const child = spawn('sh', ['-c', 'sleep 60 & sleep 60 & true & wait $!; echo; wait'])"
  const say = "child.stdout.once('data', () => require('node:worker_threads').parentPort.postMessage(child.pid))"
  const worker = new Worker(`${script}; ${say}`, { eval: true })
  onTestFinished(async () => {
    for (const pid of started()) process.kill(pid, 'SIGKILL')
    await worker.terminate()
  })
  const started = () => descendantsOf(process.pid).filter((pid) => !before.includes(pid))
  const [shell] = (await once(worker, 'message')) as [number]
  expect(started()).toContain(shell)
  const sleeping = descendantsOf(shell)
  expect(started().toSorted()).toEqual([shell, ...sleeping].toSorted())
  expect(sleeping).toHaveLength(2)
})

test('a process whose first thread has ended lives for as long as another of its threads does', async () => {
  // The C library would end all threads; the system call of this number ends one.
  const exit = { x64: 60, arm64: 93 }[process.arch as 'x64' | 'arm64']
  const says = 'select(undef, undef, undef, 0.2); syswrite(STDOUT, "on"); sleep 60'
  const child = spawn('perl', ['-Mthreads', '-e', `threads->create(sub { ${says} }); syscall(${exit}, 0)`])
  onTestFinished(() => void child.kill('SIGKILL'))
  await once(child.stdout, 'data')
  expect(readFileSync(`/proc/${child.pid}/stat`, 'latin1')).toContain(') Z ')
  expect(descendantsOf(process.pid)).toContain(child.pid)
})
