import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chownSync,
  cpSync,
  lchownSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import type { Siege } from './siege.ts'

/** As whom the walls are attacked. Root becomes somebody else inside; anybody else stays who they are. */
export type Way = 'root that drops its rights' | 'a plain user'

export const ways: readonly Way[] = process.getuid?.() === 0 ? ['root that drops its rights', 'a plain user'] : ['a plain user']

const root = resolve(import.meta.dirname, '../..')
/** An account that nobody has. */
const plain = { uid: 61_296, gid: 61_296 }

/** Opens a file under a number that Node leaves as it is, and goes on as another program. */
const withDescriptor = ['perl', '-MPOSIX', '-e', 'open F, "<", shift or die $!; dup2(fileno F, 200) or die $!; exec @ARGV']

/** Runs a program of this folder, with a terminal to steal, a secret in its environment and a descriptor it inherited. */
export async function runAs<T = Siege>(way: Way, program: string): Promise<T> {
  const becomes = way === 'a plain user' && process.getuid?.() === 0
  const base = mkdtempSync('/var/tmp/pawl-siege-')
  try {
    // A copy that belongs to the plain user: nothing of ours is protected by being somebody else's, and a checkout may be closed to others.
    if (becomes) {
      for (const part of ['src', 'test/escape', 'package.json']) cpSync(join(root, part), join(base, part), { recursive: true })
      for (const path of ['.', ...(readdirSync(base, { recursive: true }) as string[])])
        lchownSync(join(base, path), plain.uid, plain.gid)
      // After that, because what it leads to would be given away too.
      symlinkSync(join(root, 'node_modules'), join(base, 'node_modules'))
    }
    const [answer, inherited] = [join(base, 'answer.json'), join(base, 'inherited')]
    writeFileSync(answer, '')
    writeFileSync(inherited, '')
    if (becomes) for (const path of [answer, inherited]) chownSync(path, plain.uid, plain.gid)
    const words = [process.execPath, '--no-warnings', join(becomes ? base : root, 'test/escape', program), answer, inherited]
    const quote = (word: string) => `'${word.replaceAll("'", `'\\''`)}'`
    const command = [...withDescriptor, inherited, ...words].map(quote).join(' ')
    const become = becomes
      ? ['setpriv', `--reuid=${plain.uid}`, `--regid=${plain.gid}`, '--clear-groups', '--inh-caps=-all', '--']
      : []
    const [file = '', ...args] = [...become, 'script', '--quiet', '--return', '--command', command, '/dev/null']
    const child = spawn(file, args, {
      cwd: '/',
      env: { PATH: process.env.PATH, HOME: base, SHELL: '/bin/sh' },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const late = setTimeout(() => child.kill('SIGKILL'), 50_000)
    const [said, complaint, [code]] = await Promise.all([
      text(child.stdout as Readable),
      text(child.stderr as Readable),
      once(child, 'exit'),
    ])
    clearTimeout(late)
    if (code !== 0) throw new Error(`The attack as ${way} ended with ${code}: ${complaint}${said}`)
    return JSON.parse(readFileSync(answer, 'utf8')) as T
  } finally {
    rmSync(base, { recursive: true, force: true })
  }
}
