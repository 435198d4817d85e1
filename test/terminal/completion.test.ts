import { spawnSync } from 'node:child_process'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { bundle } from '../bundle.ts'
import { pawl, type Running, serve } from '../e2e/pawl.ts'
import { makeHome } from '../engine/ready-database.ts'

let home: Awaited<ReturnType<typeof makeHome>>
let daemon: Running
let bin: string
let task: string

beforeAll(async () => {
  home = await makeHome('pawl-completion-')
  bin = join(home.path, 'bin')
  await mkdir(bin)
  await mkdir(join(home.path, 'work', 'folder'), { recursive: true })
  const program = join(bin, 'pawl')
  await writeFile(program, `#!/bin/sh\nexec '${process.execPath}' '${(await bundle()).pawl}' "$@"\n`)
  await chmod(program, 0o755)
  daemon = await serve(home.path)
  const run = (...args: string[]) => pawl(home.path, args, { cwd: join(home.path, 'work') })
  task = (await run('task', 'add', '--agent', 'demo', 'look')).stdout.trim()
  await run('schedules', 'add', '--as', 'morning', '--cron', '0 7 * * *', '--agent', 'demo', 'look')
}, 120_000)
afterAll(async () => {
  daemon.process.kill('SIGTERM')
  await daemon.ended
  await home.remove()
}, 60_000)

function shell(program: string, args: readonly string[], input?: string, env: Record<string, string> = {}) {
  const { stdout, stderr, status } = spawnSync(program, args, {
    cwd: join(home.path, 'work'),
    input,
    encoding: 'utf8',
    env: { PATH: `${bin}:${process.env.PATH}`, HOME: home.path, PAWL_HOME: home.path, TERM: 'xterm', LC_ALL: 'C.UTF-8', ...env },
  })
  return { out: stdout, err: stderr, status }
}

/** Each shell is asked what it would offer for a line that ends where the cursor is. */
const offers: Record<string, (line: string, env?: Record<string, string>) => string[]> = {
  bash(line, env) {
    const script = `source <(pawl completion bash)
COMP_LINE=${quote(line)}; COMP_POINT=\${#COMP_LINE}
COMP_WORDS=(${line.split(' ').map(quote).join(' ')}); COMP_CWORD=$(( \${#COMP_WORDS[@]} - 1 ))
_pawl; printf '%s\\n' "\${COMPREPLY[@]}"`
    return lines(shell('bash', ['--norc', '-c', script], undefined, env).out)
  },
  fish: (line, env) =>
    lines(
      shell('fish', ['--no-config', '-c', `pawl completion fish | source; complete -C ${quote(line)}`], undefined, env).out,
    ).map((each) => each.split('\t')[0]!),
  zsh(line, env) {
    // Only an editor of lines completes in zsh, so one is opened on a terminal of its own and told to list.
    const script = `zmodload zsh/zpty
zpty z zsh -f -i
zpty -w z ${quote("PS1='READY '; autoload -Uz compinit; compinit -u -d $HOME/zcompdump; source <(pawl completion zsh); zstyle ':completion:*' list-separator '--'; setopt no_always_last_prompt; LISTMAX=1000; bindkey '^T' list-choices; listed() { zle -R; print -n LIS''TED }; zle -N listed; bindkey '^O' listed; echo SET''UP")}
zpty -r -m z o '*SETUP*READY*'
zpty -n -w z ${quote(line)}
zpty -n -w z $'\\x14\\x0f'
zpty -r -m z o '*LISTED*'
print -rn -- "$o"
zpty -d z`
    const { out } = shell('zsh', ['-f', '-c', script], undefined, env)
    return out.replace(/\x1b\[[0-9;?]*[a-zA-Z]/g, '').split(/[\r\n\s]+/)
  },
}
const quote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`
const lines = (text: string) => text.split('\n').filter(Boolean)

/** Completion gives the daemon a second to answer, which a loaded machine may exceed. */
function patiently<T>(ask: () => T, isAnswer: (answer: T) => boolean): T {
  for (let attempts = 1; ; attempts++) {
    const answer = ask()
    if (isAnswer(answer) || attempts === 10) return answer
  }
}
const offerIn = (name: string) => (line: string) =>
  patiently(
    () => offers[name]!(line),
    (offered) => offered.length > 0,
  )

test.each(Object.keys(offers))('%s completes commands, options, ids, agents, names and folders', { timeout: 120_000 }, (name) => {
  const offer = offerIn(name)
  expect(offer('pawl sche')).toContain('schedules')
  expect(offer('pawl task re')).toEqual(expect.arrayContaining(['resume', 'retry', 'reject']))
  expect(offer('pawl logs --fo')).toEqual(expect.arrayContaining(['--follow', '--forever']))
  const tasks = offer('pawl show ')
  expect(tasks).toEqual(expect.arrayContaining(['last', task.slice(-6)]))
  expect(offer('pawl run --agent de')).toContain('demo')
  expect(offer('pawl schedules pause ')).toContain('morning')
  expect(offer('pawl run --workspace fo').join('\n')).toMatch(/folder/)
})

test('the beginning of an id is completed to the whole of it, choices are offered, and an option with = too', () => {
  const offer = offerIn('bash')
  expect(offer(`pawl show ${task.slice(0, 8)}`)).toContain(task)
  expect(offer('pawl costs --by mo')).toEqual(['model'])
  expect(offer('pawl ls --state park')).toEqual(['parked'])
  expect(offers.bash!('pawl nonsense ')).toEqual([])
  const agents = () => shell('pawl', ['__complete', '--', 'ls', '--agent=de']).out
  expect(patiently(agents, (out) => out !== 'none\n')).toContain('--agent=demo\t')
})

test('without a daemon there is silence about ids, and words all the same', () => {
  const env = { PAWL_HOME: join(home.path, 'nobody') }
  expect(shell('pawl', ['__complete', '--', 'show', ''], undefined, env)).toEqual({ out: 'none\n', err: '', status: 0 })
  expect(offers.bash!('pawl sess', env)).toEqual(['sessions'])
})
