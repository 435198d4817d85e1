import { createWriteStream } from 'node:fs'
import { resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { Command } from 'commander'
import { invalid, messageOf, notFound } from '../../domain/error.ts'
import type { Runtime } from '../../operations/runtime.ts'
import { withConnection } from '../connecting/connect.ts'
import { findTask } from '../finding/find-task.ts'
import type { Cli } from '../terminal/cli.ts'
import { writeOut } from '../terminal/terminal.ts'
import { formatAge, formatBytes } from '../text/format.ts'
import { oneLine } from '../text/plain.ts'
import { table } from '../text/table.ts'

interface ArtifactOptions {
  get?: string
  output?: string
}

export function define(command: Command, cli: Cli): void {
  command
    .description('List the files that a task has left for people, or get one of them.')
    .argument('<task>', 'its id, the end of it, or "last"')
    .option('--get <name>', 'the one to get, by its name')
    .option('--output <file>', 'where it goes; "-" or nothing: to standard output')
    .addHelpText(
      'after',
      '\nExamples\n  pawl task artifacts last\n  pawl task artifacts 4k2x --get report.pdf --output report.pdf',
    )
    .action((named: string, options: ArtifactOptions) => artifacts(cli, named, options))
}

async function artifacts(cli: Cli, named: string, { get, output }: ArtifactOptions): Promise<void> {
  if (get === undefined && output !== undefined) throw invalid('--output needs --get NAME: one file is got at a time.')
  await withConnection(cli, { work: 'none' }, async ({ runtime }) => {
    const task = await findTask(runtime, named)
    if (get !== undefined) return save(cli, runtime, { task, name: get, output })
    const items = await runtime.listArtifacts(task)
    if (cli.globals.json) return cli.json({ items, next: null })
    if (items.length === 0) return cli.say('It has left none: agents put files for people into the folder $PAWL_ARTIFACTS.')
    const rows = items.map(({ size, type, createdAt, name }) => [
      formatBytes(size),
      type,
      formatAge(Date.now() - Date.parse(createdAt)),
      oneLine(name),
    ])
    const width = process.stdout.isTTY ? process.stdout.columns : undefined
    cli.out(table(['SIZE', 'TYPE', 'AGE', 'NAME'], rows, width, ['TYPE', 'AGE']))
  })
}

async function save(
  cli: Cli,
  runtime: Pick<Runtime, 'listArtifacts' | 'readArtifact'>,
  { task, name, output = '-' }: { task: string; name: string; output: string | undefined },
): Promise<void> {
  const found = (await runtime.listArtifacts(task)).find((one) => one.name === name || one.id === name)
  if (!found) throw notFound(`Task ${task} has left no file "${name}"; "pawl task artifacts ${task}" lists what it has.`)
  const { artifact, content } = await runtime.readArtifact(task, found.id)
  try {
    if (output === '-') {
      for await (const piece of content.bytes()) if (!(await writeOut(piece))) return
      return
    }
    const file = resolve(cli.cwd, output)
    // What is there is somebody's.
    await pipeline(content.bytes(), createWriteStream(file, { flags: 'wx' })).catch((error: unknown) => {
      throw invalid(`${file} cannot be written: ${messageOf(error)}.`)
    })
    if (cli.globals.json) return cli.json({ ...artifact, output: file })
    cli.say(`${formatBytes(artifact.size)} are in ${file}.`)
  } finally {
    await content.close()
  }
}
