import { execFileSync, spawn } from 'node:child_process'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { bundle } from '../bundle.ts'
import { pawl, type Running, serve } from '../e2e/pawl.ts'
import { makeHome } from '../engine/ready-database.ts'
import { helpExamples } from './examples.ts'

let home: Awaited<ReturnType<typeof makeHome>>
let daemon: Running
let work: string
/** What the examples name that only this home can say. */
const named: Record<string, string> = {}

beforeAll(async () => {
  home = await makeHome('pawl-examples-')
  work = join(home.path, 'work')
  for (const folder of ['bin', 'work/workspace', 'site', '.ssh']) await mkdir(join(home.path, folder), { recursive: true })
  const program = join(home.path, 'bin', 'pawl')
  await writeFile(program, `#!/bin/sh\nexec '${process.execPath}' '${(await bundle()).pawl}' "$@"\n`)
  await chmod(program, 0o755)
  await writeFile(
    join(home.path, 'config.yaml'),
    `defaultAgent: demo
agents:
  demo: { adapter: demo, ask: false, profile: unattended-open }
  asking: { adapter: demo, ask: true, profile: unattended-open }
  helper: { adapter: demo, profile: unattended-open }
  deployer: { adapter: demo, profile: unattended-open }
notifications:
  ops: { command: { run: ['true'] } }
`,
  )
  await writeFile(join(home.path, '.ssh', 'deploy_key'), 'a key')
  await writeFile(join(work, 'tasks.yaml'), 'name: a\nprompt: look\n')
  await writeFile(join(work, '.mcp.json'), '{"mcpServers":{"search":{"command":"search-mcp"}}}')
  await writeFile(join(work, 'screenshot.png'), Buffer.from('89504e470d0a1a0a', 'hex'))
  await writeFile(join(work, 'workspace', 'config.yaml'), 'agents: {}\n')
  execFileSync('git', ['init', '-q', work])
  daemon = await serve(home.path)
  named['4k2x'] = await run('task', 'add', '--agent', 'demo', 'the first')
  await run('wait', named['4k2x'])
}, 120_000)
afterAll(async () => {
  daemon.process.kill('SIGTERM')
  await daemon.ended
  await home.remove()
}, 120_000)

const run = async (...args: string[]) => (await pawl(home.path, args, { cwd: work })).stdout.trim()
const asking = async (...args: string[]) => {
  const id = await run('task', 'add', '--agent', 'asking', ...args, 'ask me')
  await run('wait', id)
  return id
}

const checked = () => run('run', '--check', 'true', 'look')

/** What must be there before an example does what it says. */
const before: Record<string, () => Promise<unknown>> = {
  'pawl questions && pawl answer last "yes"': () => asking(),
  'pawl answer last "use port 8080"': () => asking(),
  'pawl answer q_01h… --option 1 --digest sha256:…': async () => {
    await asking()
    const { items } = JSON.parse(await run('questions', '--json')) as { items: { id: string; digest: string }[] }
    named['q_01h…'] = items.at(-1)!.id
    named['sha256:…'] = items.at(-1)!.digest
  },
  'pawl task reject last --comment "keep the old name of the flag as an alias"': () => run('run', '--review', 'look'),
  'pawl task accept last': () => run('run', '--review', 'look'),
  'pawl task edit 4k2x --priority high': async () => {
    named['4k2x'] = await run('task', 'add', '--depends-on', await asking(), 'waits')
  },
  'pawl cancel 4k2x': async () => {
    named['4k2x'] = await asking()
  },
  'pawl task rm 4k2x --yes': async () => {
    named['4k2x'] = await run('task', 'add', 'to be removed')
    await run('wait', named['4k2x'])
  },
  'pawl token revoke k_0123456789abcdefgh': async () => {
    const { items } = JSON.parse(await run('token', 'ls', '--json')) as { items: { id: string }[] }
    named.k_0123456789abcdefgh = items[0]!.id
  },
  'pawl verify last': checked,
  'pawl verify last --again': checked,
  'pawl verify last --output 1': checked,
  'pawl verify last --json > ../proof.json && pawl verify --from ../proof.json': checked,
  'pawl mcp-servers show github': () => run('mcp-servers', 'add', 'github', '--url', 'http://127.0.0.1:9/mcp'),
  'pawl mcp-servers test files --profile strict': () => run('mcp-servers', 'add', 'files', '--', 'true'),
  'pawl backup verify monday.pawl': () => run('backup', 'monday.pawl'),
}

/** Examples that stay until they are stopped, and what they say once they stand. */
const staying: Record<string, string> = {
  'pawl serve': 'Pawl listens at',
  'pawl serve --port 0 --json': '"url"',
  'pawl worker': 'Pawl takes tasks here',
  'pawl --home ~/pawl-again serve': 'Pawl listens at',
  'pawl model-server --recording fix.jsonl': '"url"',
  'pawl model-server --recording fix.jsonl --port 4010': '"url"',
}

/** What ends otherwise than with 0 here, and the sentence that says what to do: these name what this home does not have. */
const refused: Record<string, RegExp> = {
  'pawl sessions adopt 0b9e6c1e-4f0a-4c57-9c1d-3c1f2a6d8e70 --agent mine': /0b9e6c1e|mine/,
  'pawl quarantine restore r_0123456789abcdefgh': /r_0123456789abcdefgh/,
  'pawl workspace rm shop': /shop/,
  'pawl replay last': /record/,
  'pawl replay r_0123456789abcdefgh --until 3': /r_0123456789abcdefgh/,
  'pawl fork last --at 3 --model another-model': /record/,
  'pawl recording rm r_0123456789abcdefgh': /r_0123456789abcdefgh/,
  'pawl task resume last --wait': /only one that is parked/,
  'pawl limits clear reviewer': /reviewer/,
  'pawl task elaborate "the login page is slow, make it fast" > task.yaml': /No agent is set/,
  'pawl task elaborate "bump the dependencies" | pawl task add -f -': /No agent is set/,
  'pawl task diff last | git apply --check': /patch/,
  'pawl task artifacts 4k2x --get report.pdf --output report.pdf': /has left no file/,
  'pawl service status --json': /"running":false/,
  'pawl mcp-servers test github': /github/,
  'pawl mcp-servers test files --profile strict': /files/,
  'pawl mcp-servers sign-in wiki': /wiki/,
}

const skippedWords = ['curl ']

test('every command has an example', async () => {
  const without = [...(await helpExamples())].filter(([, lines]) => lines.length === 0).map(([name]) => name)
  expect(without).toEqual([])
})

test('every example of every help text ends as it is documented', { timeout: 900_000 }, async () => {
  const lines = [...new Set([...(await helpExamples()).values()].flat())].filter(
    (line) => !skippedWords.some((word) => line.startsWith(word)),
  )
  // What stops or takes away comes last.
  const order = (line: string) =>
    /^pawl (serve|stop|worker)/.test(line) ? 3 : / (rm|revoke|undo|uninstall) | (undo|uninstall)$/.test(line) ? 2 : 1
  const wrong: string[] = []
  for (const line of lines.toSorted((a, b) => order(a) - order(b))) {
    await before[line]?.()
    const written = Object.entries(named).reduce((text, [name, value]) => text.replaceAll(name, value), line)
    if (staying[line] !== undefined) {
      if (line.startsWith('pawl serve')) await run('stop')
      if (!(await stays(written, staying[line]))) wrong.push(`${line}: does not say ${staying[line]}`)
      continue
    }
    const { code, text } = await shell(written)
    const sentence = refused[line]
    if (sentence ? code === 0 || !sentence.test(text) : code !== 0)
      wrong.push(`${line} (${written}): ended ${code}\n${text.slice(-600)}`)
  }
  expect(wrong).toEqual([])
})

function start(line: string) {
  const child = spawn('bash', ['-c', line], {
    cwd: work,
    env: {
      PATH: `${join(home.path, 'bin')}:${process.env.PATH}`,
      HOME: home.path,
      PAWL_HOME: home.path,
      VALUE: 'x',
      PAWL_PORT: '0',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  let text = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (part: string) => (text += part))
  const ended = new Promise<number | null>((done) => child.once('close', (code) => done(code)))
  return { child, text: () => text, ended }
}

async function shell(line: string): Promise<{ code: number | null; text: string }> {
  const { child, text, ended } = start(line)
  const late = setTimeout(() => process.kill(-child.pid!, 'SIGKILL'), 60_000)
  const code = await ended
  clearTimeout(late)
  return { code, text: text() }
}

async function stays(line: string, says: string): Promise<boolean> {
  const { child, text, ended } = start(line)
  await expect
    .poll(text, { timeout: 60_000 })
    .toContain(says)
    .catch(() => undefined)
  const isThere = text().includes(says)
  if (child.exitCode === null) process.kill(-child.pid!, 'SIGTERM')
  await ended
  return isThere
}
