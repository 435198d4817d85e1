import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { invalid, messageOf } from '../../domain/error.ts'
import { serveRecording } from '../../gateway/recordings/model-server.ts'
import { readRecording } from '../../gateway/recordings/read.ts'
import type { Cli } from '../terminal/cli.ts'

interface Options {
  recording: string
  port?: string
  paced?: boolean
  loose?: boolean
  workspace?: string
}

export function define(command: Command, cli: Cli): void {
  command
    .description(
      'Answer as a model did in a recording, on this machine only, until stopped. The first line on standard output is JSON with the URL; every request is told on standard error.',
    )
    .requiredOption('--recording <file>', 'a file that "pawl recording export" made')
    .option('--port <port>', 'where to listen; a free one if left out or 0')
    .option('--workspace <folder>', 'where the program works that asks, if elsewhere than in the recorded run')
    .option('--loose', 'compare only what was said since the first answer, not what programs say of place and model')
    .option('--paced', 'as slowly as it was recorded')
    .addHelpText(
      'after',
      '\nExample\n  pawl model-server --recording fix.jsonl --port 4010\n  curl -s http://127.0.0.1:4010/v1/messages -d @request.json',
    )
    .action((options: Options) => serve(cli, options))
}

async function serve(cli: Cli, { recording: named, port = '0', paced, loose, workspace }: Options): Promise<void> {
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) throw invalid('--port must be a port between 0 and 65535.')
  const file = resolve(cli.cwd, named)
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw invalid(`The recording ${file} cannot be read: ${messageOf(error)}.`)
  })
  const recording = readRecording(text, file)
  const server = await serveRecording(recording, {
    port: Number(port),
    isPaced: paced,
    isLoose: loose,
    workspace: workspace === undefined ? undefined : resolve(cli.cwd, workspace),
    onCall: (told) => cli.say('call' in told ? `call ${told.call}` : told.left),
  }).catch((error: unknown) => {
    throw invalid(`Port ${port} cannot be listened on: ${messageOf(error)}.`)
  })
  cli.out(JSON.stringify({ url: server.url, calls: recording.calls.length }))
  await new Promise<void>((stop) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop())
  })
  await server.close()
}
