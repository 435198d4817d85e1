import { execFile, execFileSync, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startModelServer } from '../model-server/server.ts'
import { copyCheckout } from './checkout.ts'

const root = resolve(import.meta.dirname, '../..')

/** What the authors of adapters and of clients use. */
const adapter = `import { type Adapter, canOnly, type Turn } from 'pawl/agent'
import { type Client, createClient } from 'pawl/client'
export const can = canOnly('resume', 'images')
export const nameOf = (adapter: Adapter): string => adapter.name
export const promptOf = (turn: Turn): string => turn.prompt
export const client: Client = createClient({ url: 'http://127.0.0.1:7295', token: 'x' })
`

/** The package as a user installs it: packed, and put into a folder that knows nothing of this checkout. */
describe('the packed package', () => {
  let folder: string
  let home: string
  const env = () => ({
    ...process.env,
    PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
    HOME: home,
    PAWL_HOME: join(home, '.pawl'),
  })
  const pawl = (...args: string[]) =>
    execFileSync(join(folder, 'node_modules/.bin/pawl'), args, { cwd: join(folder, 'work'), env: env(), encoding: 'utf8' })

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'pawl-package-'))
    home = join(folder, 'home')
    for (const name of [home, join(folder, 'work')]) await mkdir(name)
    // Building takes away what was built before, and other tests have daemons that serve it.
    const sources = join(folder, 'sources')
    copyCheckout(sources)
    const packed = execFileSync('npm', ['pack', '--json', '--pack-destination', folder], {
      cwd: sources,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    const [{ filename }] = JSON.parse(packed.slice(packed.indexOf('['))) as [{ filename: string }]
    await writeFile(join(folder, 'package.json'), '{"name":"user","private":true,"type":"module"}')
    execFileSync('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', join(folder, filename)], {
      cwd: folder,
      stdio: 'ignore',
    })
  }, 180_000)
  afterAll(() => rm(folder, { recursive: true, force: true }))

  it('runs a task from an install outside the repository', async () => {
    await writeFile(join(folder, 'work/a.txt'), 'hello')
    expect(pawl('run', '--agent', 'demo', 'report --no-question')).toContain('pawl-demo.md')
    expect(await readFile(join(folder, 'work/pawl-demo.md'), 'utf8')).toContain('1 file')
  }, 60_000)

  it('carries the loop that makes an agent of a model that Ollama serves', async () => {
    const models = await startModelServer()
    const agents = { local: { adapter: 'ollama', model: 'scripted-model', baseUrl: models.base('tool') } }
    await mkdir(join(home, '.pawl'), { recursive: true })
    await writeFile(join(home, '.pawl/config.yaml'), JSON.stringify({ agents }))
    const run = ['run', '--agent', 'local', 'go']
    const child = execFile(join(folder, 'node_modules/.bin/pawl'), run, { cwd: join(folder, 'work'), env: env() })
    // Not waited for synchronously: the model is served by this very process.
    let printed = ''
    child.stdout?.on('data', (text: string) => {
      printed += text
    })
    await once(child, 'close')
    await rm(join(home, '.pawl/config.yaml'))
    await models.close()
    expect(printed).toContain('Done. Tool said: scripted-tool')
  }, 60_000)

  it('is also a library', () => {
    const program = `import { runAgent } from 'pawl'; const task = await runAgent('report --no-question', { agent: 'demo' }); console.log(task.state)`
    const printed = execFileSync(process.execPath, ['--input-type=module', '-e', program], {
      cwd: join(folder, 'work'),
      env: env(),
      encoding: 'utf8',
    })
    expect(printed.trim()).toBe('completed')
  }, 60_000)

  it('runs the examples, which fit the types that come with it', async () => {
    const work = join(folder, 'examples')
    await cp(join(root, 'examples'), work, { recursive: true })
    const node = (file: string) =>
      execFileSync(process.execPath, [file], { cwd: work, env: env(), encoding: 'utf8', stdio: 'pipe' })
    expect(node('report.js')).toMatch(/^completed .*pawl-demo\.md/s)
    expect(node('answering.ts')).toBe('what is here completed\nnote.txt 4\ntrue\ninvalid\n')
    const options = ['--noEmit', '--strict', '--skipLibCheck', '--target', 'esnext', '--module', 'nodenext']
    const types = ['--types', 'node', '--typeRoots', join(root, 'node_modules/@types')]
    const check = (file: string) =>
      execFileSync(join(root, 'node_modules/.bin/tsc'), [...options, ...types, file], {
        cwd: work,
        encoding: 'utf8',
        stdio: 'pipe',
      })
    check('answering.ts')
    // They would say so if they did not fit.
    const source = await readFile(join(work, 'answering.ts'), 'utf8')
    await writeFile(join(work, 'wrong.ts'), source.replace("name: 'what is here'", 'name: 7'))
    expect(() => check('wrong.ts')).toThrow()
    await writeFile(join(work, 'adapter.ts'), adapter)
    check('adapter.ts')
  }, 120_000)

  it('names places of the sources where it shows a stack', async () => {
    const broken = join(folder, 'broken.cjs')
    await writeFile(broken, `process.stdout.write = () => { throw new Error('nobody reads') }`)
    const { stderr } = spawnSync(join(folder, 'node_modules/.bin/pawl'), ['version'], {
      env: { ...env(), NODE_OPTIONS: `--require ${broken}` },
      encoding: 'utf8',
    })
    const { line } = /at \S+ \(src\/cli\/commands\/version\.ts:(?<line>\d+):\d+\)/.exec(stderr)?.groups ?? {}
    const source = await readFile(join(root, 'src/cli/commands/version.ts'), 'utf8')
    expect(source.split('\n')[Number(line) - 1]).toContain('cli.out(')
  }, 60_000)

  it('says in one sentence what to do on a Node that is too old', () => {
    const check = `require(${JSON.stringify(join(folder, 'node_modules/pawl/bin/node.js'))}).isNewEnough('20.20.2')`
    expect(execFileSync(process.execPath, ['-p', check], { encoding: 'utf8' }).trim()).toBe('false')
  })
})
