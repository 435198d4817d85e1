import type { SshAccess } from '../../domain/profile/profile.ts'
import { shellParts } from '../../domain/rule/shell.ts'
import { blockedBecause, holdsSecrets } from './blocked.ts'
import { isNamed, type Level, levelOf } from './levels.ts'

export type SshVerdict =
  | { readonly verdict: 'allow' | 'approve'; readonly level: Level }
  | { readonly verdict: 'refuse'; readonly why: string }

const longest = 8_192
const wrappers = new Set('env command exec builtin nohup nice time sudo doas xargs timeout stdbuf setsid'.split(' '))
const shells = /^(ba|da|z|k|a)?sh$/

/**
 * What becomes of a command for another machine. A filter of words can be got around by whoever tries hard: it keeps an agent from mistakes, and the account that it
 * works with must be one that may do no more than it should.
 */
export function judge(command: string, { mode, level: highest }: Pick<SshAccess, 'mode' | 'level'>): SshVerdict {
  const refuse = (why: string): SshVerdict => ({ verdict: 'refuse', why: `The command was not run: ${why}` })
  if (command.length > longest) return refuse(`it is longer than ${longest} characters.`)
  if (/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/.test(command)) return refuse('it holds control characters.')
  const { commands, reads, writes, isBroken } = shellParts(command)
  if (isBroken || commands.length === 0) return refuse('it cannot be read; write it plainly.')
  const files = [...reads, ...writes]
  if (files.some(holdsSecrets)) return refuse('it is about a file that holds keys or passwords, which no level allows.')
  if (writes.some((path) => /^\/(dev|proc|sys|boot)\//.test(path)))
    return refuse('it would write to a device or the kernel, which no level allows.')

  let level: Level = writes.length > 0 ? 2 : 0
  for (const { program, rest, text } of simple(commands)) {
    if (/[$`]/.test(program)) return refuse(`what "${text.slice(0, 100)}" runs is only decided on the other machine.`)
    const blocked = blockedBecause(program, rest, command)
    if (blocked !== undefined) return refuse(`"${text.slice(0, 100)}" ${blocked}, which no level allows.`)
    if (mode === 'operations' && !isNamed(program))
      return refuse(`"${program}" is not among the commands of the mode "operations"; only known commands of operation are.`)
    if (mode !== 'filtered_shell' && rest.some((word) => /[$`]/.test(word)))
      return refuse(`what "${text.slice(0, 100)}" is about is only filled in on the other machine; write it out.`)
    level = Math.max(level, levelOf(program, rest)) as Level
  }
  const allowed = mode === 'readonly' ? 0 : highest
  if (level > allowed)
    return refuse(
      mode === 'readonly'
        ? 'it could change something, and the mode is "readonly".'
        : `it is of level P${level}, and this profile allows up to P${allowed}.`,
    )
  return { verdict: level === 3 ? 'approve' : 'allow', level }
}

interface Simple {
  readonly program: string
  readonly rest: readonly string[]
  readonly text: string
}

/** Each command under every name that it has: what runs another one counts as that one. */
function simple(commands: ReturnType<typeof shellParts>['commands']): Simple[] {
  return commands.flatMap(({ text, also }) =>
    [text, ...also].flatMap((each) => {
      const words = each.split(/\s+/).map((word) => word.replace(/^'(.*)'$/, '$1'))
      while (/^[A-Za-z_][A-Za-z0-9_]*\+?=/.test(words[0] ?? '')) words.shift()
      const program = (words[0] ?? '').split('/').at(-1) ?? ''
      const runsText = shells.test(program) && words.some((word) => /^-[a-z]*c$/.test(word))
      const isWrapper = (wrappers.has(program) || runsText) && also.length > 0
      return program === '' || isWrapper ? [] : [{ program, rest: words.slice(1), text: each }]
    }),
  )
}
