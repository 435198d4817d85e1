import type { Argument, Command, Option } from 'commander'
import { commands } from '../commands/index.ts'
import type { CommandEntry, Commands } from '../parsing/command-table.ts'
import type { Cli } from '../terminal/cli.ts'
import { liveWords, type Source, sourceOf } from './live-words.ts'

/** A word that may stand here, and what it is. */
export interface Word {
  readonly word: string
  readonly says: string
}

/** What may stand where the cursor is: words, and files or folders besides, which the shell knows best itself. */
export interface Completion {
  readonly words: readonly Word[]
  readonly paths: 'none' | 'files' | 'folders'
}

const nothing: Completion = { words: [], paths: 'none' }

/** Completes the last of the words after `pawl`; it may be empty. Only what a running daemon answers at once is asked for. */
export async function complete(cli: Cli, words: readonly string[]): Promise<Completion> {
  const current = words.at(-1) ?? ''
  const { entry, table, rest } = descend(words.slice(0, -1))
  if (!entry?.load) {
    if (current.startsWith('-')) return fitting(current, globalOptions)
    return fitting(
      current,
      Object.entries(table).map(([word, { summary }]) => ({ word, says: summary })),
    )
  }
  const { describedCommand } = await import('../parsing/command.ts')
  const command = describedCommand(await entry.load(), cli, 'pawl')
  const { option, position, isAfterDashes } = placeOf(command, rest)
  if (option) return valuesOf(cli, current, option, homeOf(words))
  if (current.startsWith('-') && !isAfterDashes) {
    const [flag, value] = current.split(/=(.*)/s)
    const named = value === undefined ? undefined : command.options.find(({ long }) => long === flag)
    if (named) return prefixed(`${flag}=`, await valuesOf(cli, value!, named, homeOf(words)))
    return fitting(current, command.options.flatMap(optionWords))
  }
  const args = command.registeredArguments
  const argument = args[position] ?? (args.at(-1)?.variadic ? args.at(-1) : undefined)
  return argument ? valuesOf(cli, current, argument, homeOf(words)) : nothing
}

/** The command that the words lead to, and what is left of them for it. */
function descend(words: readonly string[]): { entry?: CommandEntry | undefined; table: Commands; rest: string[] } {
  let table = commands
  for (let i = 0; i < words.length; i++) {
    const word = words[i]!
    if (word.startsWith('-')) {
      if (takesValue(word)) i++
      continue
    }
    const entry = Object.hasOwn(table, word) ? table[word] : undefined
    if (!entry) return { table: {}, rest: [] }
    if (!entry.commands) return { entry, table, rest: words.slice(i + 1) as string[] }
    table = entry.commands
  }
  return { table, rest: [] }
}

const takesValue = (option: string) => ['--home', '--config', '--database-url'].includes(option)

/** Whether a value of an option comes next, or which argument does. */
function placeOf(command: Command, before: readonly string[]): { option?: Option; position: number; isAfterDashes: boolean } {
  let position = 0
  for (let i = 0; i < before.length; i++) {
    const word = before[i]!
    if (word === '--') return { position: position + before.length - i - 1, isAfterDashes: true }
    const option = word.startsWith('-') ? command.options.find(({ long, short }) => long === word || short === word) : undefined
    if (option && (option.required || option.optional)) {
      if (i === before.length - 1) return { option, position, isAfterDashes: false }
      i++
    } else if (!word.startsWith('-')) position++
  }
  return { position, isAfterDashes: false }
}

async function valuesOf(cli: Cli, current: string, of: Option | Argument, home: string | undefined): Promise<Completion> {
  if (of.argChoices)
    return fitting(
      current,
      of.argChoices.map((word) => ({ word, says: '' })),
    )
  const name = 'long' in of ? (of.long ?? '') : `<${of.name()}>`
  const value = 'long' in of ? (/<([^>]+)>/.exec(of.flags)?.[1] ?? '') : of.name()
  if (value === 'dir' || folderOptions.has(name)) return { words: [], paths: 'folders' }
  if (value === 'file' || value === 'path') return { words: [], paths: 'files' }
  const source: Source | undefined = sourceOf(name, value)
  return source ? fitting(current, await liveWords(cli, source, { home, current })) : nothing
}

const folderOptions = new Set(['--workspace', '--context-dir', '--writable-dir'])

const optionWords = ({ long, short, description, hidden }: Option): Word[] =>
  hidden ? [] : [long ?? short].flatMap((word) => (word ? [{ word, says: description }] : []))

const globalOptions: Word[] = [
  { word: '--help', says: 'show help' },
  { word: '--version', says: 'print the version' },
  { word: '--json', says: 'print JSON on stdout' },
  { word: '--home', says: "Pawl's own folder" },
]

const homeOf = (words: readonly string[]) => {
  const at = words.lastIndexOf('--home')
  return at < 0 || at >= words.length - 2 ? undefined : words[at + 1]
}

const fitting = (current: string, words: readonly Word[]): Completion => ({
  words: words.filter(({ word }) => word.startsWith(current)),
  paths: 'none',
})

const prefixed = (before: string, { words, paths }: Completion): Completion => ({
  words: words.map(({ word, says }) => ({ word: before + word, says })),
  paths,
})
