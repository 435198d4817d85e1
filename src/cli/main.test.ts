import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Command } from 'commander'
import { afterAll, expect, test } from 'vitest'
import { commands } from './commands/index.ts'
import type { Commands } from './parsing/command-table.ts'
import { Cli } from './terminal/cli.ts'

const root = join(import.meta.dirname, '..', '..')
const folder = mkdtempSync(join(tmpdir(), 'pawl-cli-'))
const home = join(folder, 'home')
const project = join(folder, 'project')
mkdirSync(project)
afterAll(() => rmSync(folder, { recursive: true }))

function pawl(args: string[], options: { input?: string; cwd?: string } = {}) {
  const { PATH, HOME } = process.env
  const result = spawnSync(process.execPath, [join(root, 'bin', 'pawl'), ...args], {
    cwd: options.cwd ?? project,
    input: options.input ?? '',
    encoding: 'utf8',
    env: { PATH, HOME, PAWL_HOME: home },
  })
  return { out: result.stdout, err: result.stderr, code: result.status }
}

test('--version prints the version of the package', () => {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  expect(pawl(['--version'])).toEqual({ out: `${version}\n`, err: '', code: 0 })
  expect(pawl(['--json', '--version']).out).toBe(`{"version":"${version}"}\n`)
})

test('--help names every command and fits a screen', () => {
  const { out, code } = pawl(['--help'])
  expect(code).toBe(0)
  for (const name of Object.keys(commands)) expect(out).toMatch(new RegExp(`^  ${name} `, 'm'))
  expect(out.split('\n').length).toBeLessThan(80)
  expect(Math.max(...out.split('\n').map((line) => line.length))).toBeLessThanOrEqual(110)
})

test('help says what --help of the same command says, and version what --version does', () => {
  expect(pawl(['help'])).toEqual(pawl(['--help']))
  expect(pawl(['help', 'task'])).toEqual(pawl(['task', '--help']))
  expect(pawl(['help', 'task', 'add']).out).toBe(pawl(['task', 'add', '--help']).out)
  expect(pawl(['version'])).toEqual(pawl(['--version']))
})

test('without a command the help goes to stderr and the code is 2', () => {
  const { out, err, code } = pawl([])
  expect([out, code]).toEqual(['', 2])
  expect(err).toContain('pawl <command>')
})

test('every command describes itself and takes arguments that do not clash', async () => {
  const visit = async (table: Commands, path: string): Promise<void> => {
    for (const [name, entry] of Object.entries(table)) {
      if (entry.commands) await visit(entry.commands, `${path} ${name}`)
      else {
        const command = new Command(`${path} ${name}`)
        ;(await entry.load!()).define(command, new Cli(folder))
        expect(command.description(), command.name()).not.toBe('')
        for (const option of command.options) expect(option.description, `${command.name()} ${option.flags}`).not.toBe('')
      }
    }
  }
  await visit(commands, 'pawl')
})

test.each([
  [['rnu', 'x'], 'There is no command "pawl rnu"; did you mean "run"? See "pawl --help".'],
  [['task', 'shwo'], 'There is no command "pawl task shwo"; did you mean "show"? See "pawl task --help".'],
  [['add', 'x'], 'There is no command "pawl add"; did you mean "pawl task add"? See "pawl --help".'],
  [['session', 'ls'], 'There is no command "pawl session"; did you mean "sessions"? See "pawl --help".'],
  [['schedule'], 'There is no command "pawl schedule"; did you mean "schedules"? See "pawl --help".'],
  [['cost'], 'There is no command "pawl cost"; did you mean "costs"? See "pawl --help".'],
  [['help', 'task', 'ad'], 'There is no command "pawl task ad"; did you mean "add"? See "pawl task --help".'],
  [['resume', '4k2x'], '"pawl resume" lets the whole queue go on; for one task write: pawl task resume 4k2x'],
  [['toString'], 'There is no command "pawl toString". See "pawl --help".'],
  [['run', '--agnet', 'x', 'hi'], 'Unknown option "--agnet"; did you mean "--agent"? See "pawl run --help".'],
  [['ls', '--jsno'], 'Unknown option "--jsno"; did you mean "--json"? See "pawl ls --help".'],
  [['--verison'], 'Unknown option "--verison"; did you mean "--version"? See "pawl --help".'],
  [['task', 'show'], '"pawl task show" needs a task. See "pawl task show --help".'],
  [['stop', 'now'], '"pawl stop" takes fewer arguments. See "pawl stop --help".'],
  [['run', '--agent'], 'The option "--agent" needs a value. See "pawl run --help".'],
  [
    ['run', '--output-format', 'xml', 'hi'],
    '--output-format cannot be "xml". Allowed choices are text, json, stream-json. See "pawl run --help".',
  ],
  [['run', ''], 'The prompt is empty; say what the agent should do.'],
  [['run'], 'The prompt is empty; say what the agent should do.'],
  [['run', '-'], 'The prompt is empty; say what the agent should do.'],
  [
    ['run', '--workspace', 'nowhere', 'hi'],
    `The workspace ${join(project, 'nowhere')} does not exist; make it first, or name another with --workspace.`,
  ],
  [['run', '--timeout', 'soon', 'hi'], '--timeout must be a duration such as 90s, 30m or 2h; 0 means no limit.'],
  [['run', '--timeout', '25d', 'hi'], '--timeout must be at most 24d; 0 means no limit.'],
  [['run', '--budget-time', '0', 'hi'], '--budget-time must be longer than nothing; leave it out for no limit.'],
  [
    ['run', '--answer-within', 'soon', 'hi'],
    '--answer-within must be a duration such as 90s, 30m or 2h; leave it out for no limit.',
  ],
  [['run', '--retry-delay', 'soon', 'hi'], '--retry-delay must be a duration such as 90s, 30m or 2h; 0 for none.'],
  [['run', '--check', '', 'hi'], 'The value of --check is empty; give one, or leave the option out.'],
  [['run', '--name', ' ', 'hi'], 'The value of --name is empty; give one, or leave the option out.'],
  [['task', 'reject', 'last'], '"pawl task reject" needs the option "--comment". See "pawl task reject --help".'],
  [['notifications', 'ls', '--limit', '-4'], '--limit must be a whole number from 1 to 100000; --all lists every one.'],
  [['run', '--priority', 'urgent', 'hi'], '--priority must be high, normal, low, or a whole number from -100 to 100.'],
  [['run', '--sesion', 'x', 'hi'], 'Unknown option "--sesion"; did you mean "--session"? See "pawl run --help".'],
  [['run', '--scratch', '--workspace', '.', 'hi'], '--scratch and --workspace name two places; leave one of them out.'],
  [
    ['run', '--scratch', '--session', 'last', 'hi'],
    'A session works where its files are, so --scratch cannot go with --session; leave one of them out.',
  ],
  [['run', '--reset-session', 'hi'], '--reset-session needs --session ID: a task without one begins a new conversation anyway.'],
  [
    ['run', '--output-schema', 'no.json', 'hi'],
    `The output schema ${join(project, 'no.json')} does not exist; --output-schema takes a file, or the schema itself as JSON.`,
  ],
  [['task', 'add', '--output-schema', '{"type":', 'hi'], expect.stringMatching(/^The JSON of --output-schema is not JSON: /)],
  [['ls', '--session', 'x'], '"x" names no session; give its id, 4 or more characters of its end or beginning, or "last".'],
  [['sessions', 'adpot'], 'There is no command "pawl sessions adpot"; did you mean "adopt"? See "pawl sessions --help".'],
  [['adopt', 'x'], 'There is no command "pawl adopt"; did you mean "pawl sessions adopt"? See "pawl --help".'],
  [['sessions', 'adopt'], '"pawl sessions adopt" needs a vendor-id. See "pawl sessions adopt --help".'],
  [['sessions', 'ls', '--limit', '0'], '--limit must be a whole number from 1 to 100000; --all lists every one.'],
  [
    ['run', '--session', 'x', 'hi'],
    '"x" names no session; give its id, 4 or more characters of its end or beginning, or "last".',
  ],
  [['ls', '--state', 'runing'], expect.stringMatching(/^There is no state "runing"; did you mean "running"\? States: created, /)],
  [['serve', '--port', '70000'], '--port must be a port from 0 to 65535.'],
])('%j is refused in one sentence with code 2, and nothing is made', (args, sentence) => {
  const { out, err, code } = pawl(args)
  expect([out, code]).toEqual(['', 2])
  expect(err.replace(/^pawl: /, '').trimEnd()).toEqual(sentence)
  expect(existsSync(home)).toBe(false)
})

test('a prompt that is too long is refused before anything is made', () => {
  const { err, code } = pawl(['run'], { input: 'x'.repeat(10_000_100) })
  expect(code).toBe(2)
  expect(err).toBe(
    'pawl: Standard input is longer than 10000000 bytes; put the material into a file of the workspace and point at it.\n',
  )
  expect(existsSync(home)).toBe(false)
})

test('an output schema that is JSON but no schema is refused', () => {
  writeFileSync(join(project, 'list.json'), '[]')
  const sentence = `The output schema ${join(project, 'list.json')} is not a JSON schema: that is an object such as {"type":"object"}.`
  expect(pawl(['run', '--output-schema', 'list.json', 'hi'])).toMatchObject({ err: `pawl: ${sentence}\n`, code: 2 })
})

test('a file is no workspace', () => {
  writeFileSync(join(project, 'file'), '')
  expect(pawl(['run', '--workspace', 'file', 'hi']).err).toBe(`pawl: The workspace ${join(project, 'file')} is not a folder.\n`)
})

test('with --json a refusal is an object on stdout, and a sentence for people on stderr', () => {
  const { out, err, code } = pawl(['run', '--json', '--priority', 'x', 'hi'])
  const message = '--priority must be high, normal, low, or a whole number from -100 to 100.'
  expect([JSON.parse(out), err, code]).toEqual([{ error: { code: 'invalid', message } }, `pawl: ${message}\n`, 2])
})

test('--json after "--" is part of the prompt', () => {
  expect(pawl(['run', '--priority', 'x', '--', '--json']).out).toBe('')
})

test('an agent that is not there is a mistake of usage that names the ones that are', () => {
  const own = join(folder, 'unknown-agent')
  mkdirSync(own)
  const { err, code } = pawl(['task', 'add', '--home', join(own, 'home'), '--agent', 'dmeo', 'hi'])
  expect(code).toBe(2)
  expect(err).toMatch(/no agent "dmeo".*did you mean "demo"/)
}, 120_000)

test('broken settings are refused with line and column', () => {
  const broken = join(folder, 'broken')
  mkdirSync(broken)
  writeFileSync(join(broken, 'pawl.yaml'), 'agents:\n  x: { adapter: custom\n')
  const { err, code } = pawl(['config', 'show'], { cwd: broken })
  expect(code).toBe(2)
  expect(err).toMatch(/^pawl: pawl\.yaml:3:1 /)
})

test('what needs no settings of the folder works beside broken ones, and doctor reports them', () => {
  const broken = join(folder, 'broken-beside')
  mkdirSync(broken)
  writeFileSync(join(broken, 'pawl.yaml'), 'agents: [\n')
  const { out, code } = pawl(['doctor', '--json', '--home', join(folder, 'doctored')], { cwd: broken })
  const { rows } = JSON.parse(out)
  expect(code).toBe(1)
  expect(rows.find((row: { name: string }) => row.name === 'settings')).toMatchObject({
    level: 'fail',
    detail: expect.stringMatching(/^pawl\.yaml:2:1 /),
  })
  expect(rows.map((row: { name: string }) => row.name)).toContain('agent demo')
})

test('a home that cannot be made is refused at once', () => {
  expect(pawl(['ls', '--home', '/proc/x/y'])).toMatchObject({
    err: "pawl: Pawl's home /proc/x/y cannot be made (ENOENT); choose another folder with PAWL_HOME.\n",
    code: 2,
  })
})

test('a folder that was deleted meanwhile is named as the cause', () => {
  const gone = join(folder, 'gone')
  mkdirSync(gone)
  const script = 'cd "$2" && rmdir "$2" && exec "$0" "$1" ls'
  const result = spawnSync('/bin/sh', ['-c', script, process.execPath, join(root, 'bin', 'pawl'), gone], { encoding: 'utf8' })
  expect([result.stderr, result.status]).toEqual(['pawl: This folder does not exist any more; change to another one.\n', 2])
})

test('init writes a file that is read back without complaint, and does not replace it', () => {
  const fresh = join(folder, 'fresh')
  mkdirSync(fresh)
  expect(pawl(['init'], { cwd: fresh })).toMatchObject({ out: `${join(fresh, 'pawl.yaml')}\n`, code: 0 })
  expect(pawl(['config', 'show', '--json'], { cwd: fresh }).code).toBe(0)
  writeFileSync(join(fresh, 'pawl.yaml'), '# mine\n')
  expect(pawl(['init'], { cwd: fresh })).toMatchObject({
    err: `pawl: ${join(fresh, 'pawl.yaml')} is already there; --force replaces it.\n`,
    code: 1,
  })
  expect(readFileSync(join(fresh, 'pawl.yaml'), 'utf8')).toBe('# mine\n')
  expect(pawl(['init', '--force'], { cwd: fresh }).code).toBe(0)
})

test('trust is given, listed and taken back', () => {
  const trusting = join(folder, 'trusting')
  mkdirSync(trusting)
  const file = join(trusting, 'pawl.yaml')
  writeFileSync(file, 'agents:\n  x: { adapter: custom, command: [/bin/true] }\n')
  const names = () => JSON.parse(pawl(['config', 'show', '--json'], { cwd: trusting }).out).untrusted?.agents ?? []
  expect(names()).toEqual(['x'])
  expect(pawl(['trust'], { cwd: trusting }).code).toBe(0)
  expect(names()).toEqual([])
  expect(JSON.parse(pawl(['trust', '--list', '--json']).out).items).toMatchObject([{ file }])
  expect(pawl(['trust', '--remove'], { cwd: trusting }).code).toBe(0)
  expect(names()).toEqual(['x'])
})

test('config show tells of one setting or of all below a key, and knows what was meant', () => {
  const { out, code } = pawl(['config', 'show', 'limits', '--json'])
  expect(code).toBe(0)
  const paths = JSON.parse(out).settings.map(({ path }: { path: string }) => path)
  expect(paths).toContain('limits.running')
  expect(paths.filter((path: string) => !path.startsWith('limits.'))).toEqual([])
  expect(pawl(['config', 'show', 'limits.running']).out).toMatch(/^limits\.running +default +\d+$/m)
  expect(pawl(['config', 'show', 'limits.runing'])).toMatchObject({
    code: 2,
    err: expect.stringContaining('There is no setting limits.runing in force; did you mean "limits.running"?'),
  })
})

test('config schema is a JSON schema', () => {
  expect(JSON.parse(pawl(['config', 'schema']).out)).toMatchObject({ type: 'object', properties: { agents: {} } })
})

test('a reader that leaves early is no failure', () => {
  const result = spawnSync(
    '/bin/sh',
    ['-c', `"$0" "$1" config schema | head -c 1`, process.execPath, join(root, 'bin', 'pawl')],
    { encoding: 'utf8' },
  )
  expect([result.stdout, result.stderr, result.status]).toEqual(['{', '', 0])
})

/** The packages that importing a file loads, through everything it imports in turn. */
function packagesOf(file: string, seen = new Set<string>()): Set<string> {
  if (seen.has(file)) return seen
  seen.add(file)
  for (const [, from] of readFileSync(file, 'utf8').matchAll(
    /^(?:import|export) (?!type )(?:\{[^}]*\}|[\w*, ]+(?:\{[^}]*\})?) ?from '([^']+)'/gm,
  ))
    if (from!.startsWith('.')) packagesOf(join(dirname(file), from!), seen)
    else seen.add(from!)
  return seen
}

test('a client of a daemon pays for no library but the one that reads its arguments', () => {
  const files = ['main.ts', 'parsing/command.ts', 'commands/run.ts', 'commands/ls.ts', 'commands/logs.ts', 'connecting/remote.ts']
  const loaded = [...new Set(files.flatMap((file) => [...packagesOf(join(import.meta.dirname, file))]))]
  expect(loaded.filter((name) => !name.startsWith('/') && !name.startsWith('node:'))).toEqual(['commander'])
})
