import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { makeHome } from '../engine/ready-database.ts'
import { copyCheckout } from './checkout.ts'
import { compileCache } from './pawl.ts'

const run = promisify(execFile)
let home: Awaited<ReturnType<typeof makeHome>>
let checkout: string
let work: string
const builds = new Set<string>()

beforeAll(async () => {
  home = await makeHome()
  const folder = await mkdtemp(join(tmpdir(), 'pawl-checkout-'))
  checkout = join(folder, 'pawl')
  work = join(folder, 'work')
  await mkdir(work)
  copyCheckout(checkout)
}, 120_000)

afterAll(async () => {
  // One that a failed test has left.
  await pawl('stop')
  await rm(dirname(checkout), { recursive: true, force: true })
  for (const build of builds) await rm(build, { recursive: true, force: true })
  await home.remove()
})

const env = () => ({
  PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
  HOME: home.path,
  PAWL_HOME: home.path,
  NODE_COMPILE_CACHE: compileCache,
})

/** `npm start`, until it listens; `program` is what Node was started with. */
async function npmStart(): Promise<{ url: string; program: string; said: () => string; ended: Promise<unknown> }> {
  const child = spawn('npm', ['start', '--silent', '--', '--port', '0', '--json'], { cwd: checkout, env: env() })
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text) => (said += text))
  const ended = once(child, 'exit')
  const line = await Promise.race([
    once(createInterface({ input: child.stdout }), 'line').then(([first]) => String(first)),
    ended.then(() => Promise.reject(new Error(`npm start ended: ${said}`))),
  ])
  const { url, pid } = JSON.parse(line) as { url: string; pid: number }
  const program = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
    .split('\0')
    .find((word) => word.endsWith('bin/pawl'))!
  builds.add(resolve(program, '../..'))
  return { url, program, said: () => said, ended }
}

// As it is typed in a checkout: from the sources.
const pawl = async (...args: string[]) =>
  (await run(process.execPath, [join(checkout, 'bin/pawl'), ...args], { cwd: work, env: env() })).stdout

it('npm start runs the program that users install, made anew when the sources have changed', { timeout: 300_000 }, async () => {
  const first = await npmStart()
  expect(first.said()).toContain('Building the page…')
  expect(first.said()).toContain('Building Pawl…')
  expect(first.program).toContain('/node_modules/.cache/pawl-start/')
  expect(await pawl('run', '--agent', 'demo', 'look around --no-question')).toContain('pawl-demo.md')
  expect(await (await fetch(first.url)).text()).toContain('<script')
  await pawl('stop')
  await first.ended

  const second = await npmStart()
  expect(second.program).toBe(first.program)
  expect(second.said()).not.toContain('Building')
  await pawl('stop')
  await second.ended

  const source = join(checkout, 'src/surfaces/http/routes/daemon.ts')
  const text = await readFile(source, 'utf8')
  await writeFile(source, `${text}\nconsole.error('as it is now')\n`)
  const third = await npmStart()
  expect(third.program).not.toBe(first.program)
  expect(third.said()).toContain('as it is now')
  // One that still ran the first would find all of it.
  expect(existsSync(first.program)).toBe(true)
  await pawl('stop')
  await third.ended
})
