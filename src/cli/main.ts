import { setDefaultAutoSelectFamily } from 'node:net'
import { didYouMean } from '../domain/base/nearest.ts'
import { invalid } from '../domain/error.ts'
import { commands } from './commands/index.ts'
import type { Commands } from './parsing/command-table.ts'
import { groupHelp, mainHelp, unknownCommand } from './parsing/help.ts'
import { Cli } from './terminal/cli.ts'
import { reportFailure } from './terminal/failure.ts'
import { print } from './terminal/terminal.ts'

void start()

async function start(): Promise<void> {
  // A reader that left (`pawl ls | head`) or a terminal that was closed is no failure: what was begun is still brought to its end.
  for (const stream of [process.stdout, process.stderr])
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE' && error.code !== 'EIO') throw error
    })
  const exitCode = await main(process.argv.slice(2))
  // Nothing may be lost in a pipe, and no idle connection may hold the process.
  process.stdout.write('', () => process.exit(exitCode))
}

async function main(argv: string[]): Promise<number> {
  const ends = argv.indexOf('--')
  const options = ends < 0 ? argv : argv.slice(0, ends)
  try {
    // The daemon listens on one address; trying families one after another only costs time.
    setDefaultAutoSelectFamily(false)
    if (argv[0] === '__complete') return await completeWords(argv.slice(argv[1] === '--' ? 2 : 1))
    return await dispatch(argv, new Cli(currentFolder()), { path: ['pawl'], commands })
  } catch (error) {
    return reportFailure(error, { json: options.includes('--json') })
  }
}

/** For the scripts of `pawl completion`: in the middle of a line that somebody types nothing may be said but words. */
async function completeWords(words: string[]): Promise<number> {
  const { complete } = await import('./completion/complete.ts')
  const { words: found, paths } = await complete(new Cli(currentFolder()), words)
  print(process.stdout, [paths, ...found.map(({ word, says }) => `${word}\t${says}`)].join('\n').concat('\n'))
  return 0
}

function currentFolder(): string {
  try {
    return process.cwd()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    throw invalid('This folder does not exist any more; change to another one.')
  }
}

async function dispatch(argv: string[], cli: Cli, at: { path: string[]; commands: Commands }): Promise<number> {
  const { before, name, rest } = splitCommand(argv)
  if (name === undefined) return withoutCommand(before, cli, at)
  const entry = Object.hasOwn(at.commands, name) ? at.commands[name] : undefined
  if (!entry) throw unknownCommand(name, at)
  const path = [...at.path, name]
  // One that does something by itself has its own help; the commands below it are named there.
  const isOwn = entry.load !== undefined && !Object.hasOwn(entry.commands ?? {}, splitCommand(rest).name ?? '')
  if (entry.commands && !isOwn) return dispatch([...before, ...rest], cli, { path, commands: entry.commands })
  const [{ runCommand }, module] = await Promise.all([import('./parsing/command.ts'), entry.load!()])
  return runCommand(module, [...before, ...rest], cli, path.join(' '))
}

async function withoutCommand(options: string[], cli: Cli, at: { path: string[]; commands: Commands }): Promise<number> {
  if (options.includes('--version') || options.includes('-V')) {
    const { version } = await import('../base/version.ts')
    if (options.includes('--json')) cli.json({ version })
    else cli.out(version)
    return 0
  }
  const help = at.path.length === 1 ? mainHelp(at.commands) : groupHelp(at.path.join(' '), at.commands)
  const known = [
    '--help',
    '-h',
    '--json',
    '--quiet',
    '--no-color',
    '--trust',
    '--version',
    '--home',
    '--config',
    '--database-url',
  ]
  const unknown = options.find(
    (option, i) => option.startsWith('-') && !known.includes(option.split('=')[0]!) && !takesValue(options[i - 1]),
  )
  if (unknown !== undefined)
    throw invalid(`Unknown option "${unknown}"${didYouMean(unknown, known)} See "${at.path.join(' ')} --help".`)
  if (options.includes('--help') || options.includes('-h')) {
    cli.out(help)
    return 0
  }
  // Whoever only says "pawl" at a terminal wants to know how things are.
  if (at.path.length === 1 && cli.isInteractive && process.stdout.isTTY === true) return dispatch([...options, 'top'], cli, at)
  print(process.stderr, `${help}\n`)
  return 2
}

/** The command is the first word that is neither an option nor the value of one that may stand before it. */
function splitCommand(argv: string[]): { before: string[]; name?: string; rest: string[] } {
  for (let i = 0; i < argv.length; i++) {
    if (argv[i] === '--') break
    if (!argv[i]!.startsWith('-')) return { before: argv.slice(0, i), name: argv[i]!, rest: argv.slice(i + 1) }
    if (takesValue(argv[i])) i++
  }
  return { before: argv, rest: [] }
}

function takesValue(option: string | undefined): boolean {
  return option === '--home' || option === '--config' || option === '--database-url'
}
