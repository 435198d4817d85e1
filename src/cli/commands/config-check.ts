import type { Command } from 'commander'
import type { Cli } from '../terminal/cli.ts'
import { oneLine } from '../text/plain.ts'

const example = `
Example
  pawl config check workspace/config.yaml`

export function define(command: Command, cli: Cli): void {
  command
    .description(
      'Check a settings file, pawl.yaml or that of a Molecule workspace: every mistake with its place, and the agents it makes.',
    )
    .argument('[file]', 'the nearest pawl.yaml of this folder if left out')
    .addHelpText('after', example)
    .action((file: string | undefined) => check(cli, file))
}

async function check(cli: Cli, file: string | undefined): Promise<void> {
  const { readSettings } = await import('../connecting/settings.ts')
  // Trust decides what counts, not what is right.
  const config = await readSettings(cli, {
    askTrust: false,
    flags: { trust: true, ...(file === undefined ? {} : { config: file }) },
  })
  const agents = config.agents
    .filter(({ source }) => source !== 'builtin')
    .map(({ name, adapter, preset, model }) => ({ name, adapter, preset, model }))
  const read = [config.files.project, config.files.home].filter((path) => path !== undefined)
  if (cli.globals.json) return cli.json({ files: read, agents, notes: config.notes })
  for (const note of config.notes) cli.say(oneLine(note, 500))
  if (read.length === 0) return cli.say('There is no settings file here; "pawl init" writes one.')
  cli.out(`No mistakes in ${read.map((path) => oneLine(path)).join(' and ')}.`)
  for (const { name, adapter, preset, model } of agents)
    cli.out(`agent ${oneLine(name)}: ${oneLine(preset ?? adapter)}${model === undefined ? '' : `, model ${oneLine(model)}`}`)
}
