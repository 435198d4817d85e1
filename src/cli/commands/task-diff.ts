import type { Command } from 'commander'
import { invalid } from '../../domain/error.ts'
import type { ChangedFile, RunChangesView, TaskChangesView } from '../../domain/view/changes.ts'
import { withConnection } from '../connecting/connect.ts'
import { findTask } from '../finding/find-task.ts'
import { runOfTask } from '../finding/run-of-task.ts'
import type { Cli } from '../terminal/cli.ts'
import { print, printData } from '../terminal/terminal.ts'
import { oneLine, plain } from '../text/plain.ts'
import type { Tone } from '../text/render.ts'
import { table } from '../text/table.ts'

interface DiffOptions {
  run?: string
  stat?: boolean
  nameOnly?: boolean
  path?: string
}

export function define(command: Command, cli: Cli): void {
  command
    .description(
      'Print what a task changed in its workspace, as git writes it; the runs one after the other. With --json the files and their lines.',
    )
    .argument('<task>', 'its id, the end of it, or "last"')
    .option('--run <run>', 'only of this run: its number, 1 for the first, or its id')
    .option('--path <file>', 'only of this file')
    .option('--stat', 'which files and how many lines, instead')
    .option('--name-only', 'the names of the files, instead')
    .addHelpText('after', examples)
    .action((named: string, options: DiffOptions) => diff(cli, named, options))
}

const examples = `
Examples
  pawl task diff last
  pawl task diff last --stat
  pawl task diff 4k2x --run 2 --path src/main.ts
  pawl task diff last | git apply --check`

async function diff(cli: Cli, named: string, options: DiffOptions): Promise<void> {
  if (options.stat && options.nameOnly) throw invalid('--stat and --name-only are two ways to show the same; name one of them.')
  await withConnection(cli, { work: 'none' }, async ({ runtime }) => {
    const id = await findTask(runtime, named)
    const run = options.run === undefined ? undefined : runOfTask(await runtime.getTask(id), options.run)
    const changes = await runtime.listChanges(id)
    const told = run === undefined ? changes : changes.runs.find((one) => one.run === run)!
    const files = told.files.filter(
      ({ path, from }) => options.path === undefined || options.path === path || options.path === from,
    )
    if (cli.globals.json) cli.json(run === undefined ? changes : told)
    else if (options.nameOnly) for (const { path } of files) cli.out(oneLine(path))
    else if (options.stat) tellFiles(cli, files, told)
    else if (files.length > 0) printPatch(await runtime.readDiff(id, { run, path: options.path }), cli)
    tellGaps(cli, changes, run)
    if (files.length === 0) cli.say(nothingOf(changes, run))
  })
}

/** Another program gets every sign as it is; a terminal is not steered by any of them. */
function printPatch(patch: string, cli: Cli): void {
  if (!process.stdout.isTTY) {
    printData(patch)
    return
  }
  // Line by line, so that a carriage return at the end of one is seen.
  const lines = patch.replace(/\n$/, '').split('\n').map(plain)
  print(process.stdout, `${lines.map((line) => cli.style(toneOf(line), line, process.stdout)).join('\n')}\n`)
}

function toneOf(line: string): Tone {
  if (line.startsWith('+++') || line.startsWith('---') || /^(?:diff|index|new|deleted|old|similarity|rename|Binary) ?/.test(line))
    return 'faint'
  if (line.startsWith('+')) return 'good'
  if (line.startsWith('-')) return 'bad'
  return line.startsWith('@@') ? 'ask' : 'normal'
}

const signs = { added: 'A', modified: 'M', deleted: 'D', renamed: 'R', retyped: 'T' } as const satisfies Record<
  ChangedFile['status'],
  string
>

function tellFiles(
  cli: Cli,
  files: readonly ChangedFile[],
  { fileCount, added, removed }: Pick<TaskChangesView, 'fileCount' | 'added' | 'removed'>,
): void {
  const lines = (file: ChangedFile) => (file.added === null ? 'binary' : `+${file.added} -${file.removed}`)
  const rows = files.map((file) => [
    signs[file.status],
    lines(file),
    file.from === null ? oneLine(file.path) : `${oneLine(file.path)} (was ${oneLine(file.from)})`,
  ])
  if (rows.length > 0) cli.out(table(['', 'LINES', 'FILE'], rows, undefined))
  cli.out(`${fileCount === 1 ? '1 file' : `${fileCount} files`}, +${added} -${removed}`)
}

/** What is not known must not look like nothing. */
function tellGaps(cli: Cli, changes: TaskChangesView, run: string | undefined): void {
  for (const one of changes.runs)
    if (one.why !== null && (run === undefined || run === one.run)) cli.say(`Run ${one.number}: ${oneLine(one.why)}`)
  const open = changes.runs.find(({ state }) => state === 'open')
  if (open && (run === undefined || run === open.run))
    cli.say(`Run ${open.number} goes on; what it changes is known when it has ended.`)
  if (run === undefined && !changes.isComposed)
    cli.say('A file was changed by more than one run: its changes stand one after the other.')
}

function nothingOf(changes: TaskChangesView, run: string | undefined): string {
  const meant: readonly RunChangesView[] = changes.runs.filter((one) => run === undefined || one.run === run)
  if (meant.length === 0) return 'The task has not run yet.'
  return meant.every(({ state }) => state === 'nothing') ? 'Nothing was changed.' : 'No change is known.'
}
