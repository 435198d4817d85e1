import type { Command } from 'commander'
import type { Profile } from '../../domain/profile/profile.ts'
import type { ProfileView } from '../../domain/profile/view.ts'
import { sayOpenWalls } from '../connecting/open-sandbox.ts'
import type { Cli } from '../terminal/cli.ts'
import { oneLine } from '../text/plain.ts'

export function define(command: Command, cli: Cli): void {
  command
    .description('Show a profile with every setting decided, as a run is given it.')
    .argument('<name>', '"pawl profile ls" lists them')
    .addHelpText('after', '\nExample\n  pawl profile show guarded')
    .action((name: string) => show(cli, name))
}

async function show(cli: Cli, name: string): Promise<void> {
  const [{ profilesHere }, { profileView }] = await Promise.all([
    import('../connecting/profiles.ts'),
    import('../../domain/profile/view.ts'),
  ])
  const view = await profileView((await profilesHere(cli)).named(name))
  sayOpenWalls(cli, view)
  if (cli.globals.json) return cli.json(view)
  for (const line of describe(view)) cli.out(line)
}

function describe({ profile, digest }: ProfileView): string[] {
  const rows: (readonly [string, string])[] = [
    ['profile', profile.name],
    ['base', profile.base],
    ['digest', digest],
    ['walls', profile.walls ? 'yes' : 'NONE: all the rights of this user'],
    ...lists('rule', profile.rules),
    ['otherwise', `${profile.otherwise} what no rule names`],
    ['tools', profile.tools.native ? "the program's own and Pawl's" : "Pawl's only"],
    ...each('disabled', profile.tools.disabled),
    ...profile.mounts.map((mount) => ['mount', mountText(mount)] as const),
    ...lists('network', profile.network),
    ...(reachesNothing(profile) ? [['network', 'none but the model'] as const] : []),
    ...each('pass', profile.env.pass),
    ...each('set', Object.keys(profile.env.set)),
    ...profile.secrets.map(({ name, variable }) => ['secret', `${name} in ${variable}`] as const),
    ['limits', limitsText(profile.limits)],
    ['skills', profile.skills.join(', ') || 'none'],
    ['subagents', profile.subagents.join(', ') || 'none'],
    [
      'instructions',
      profile.instructions ? "the repository's own are given to the agent" : "the repository's own are not given to the agent",
    ],
    ...profile.trusted.map(({ path, digest: trusted }) => ['trusts', `${path} as ${trusted}`] as const),
    ...(profile.nestedNamespaces ? [['namespaces', 'may be made inside'] as const] : []),
    ...(profile.ssh
      ? profile.ssh.hosts.map(({ name, user, host, port }) => ['ssh', `${name}: ${user}@${host}:${port}`] as const)
      : []),
  ]
  return rows.map(([label, value]) => `${label.padEnd(14)}${oneLine(value)}`)
}

const each = (label: string, values: readonly string[]) => values.map((value) => [label, value] as const)
const lists = (label: string, { deny, ask, allow }: Profile['rules']) =>
  Object.entries({ deny, ask, allow }).flatMap(([verdict, values]) =>
    values.map((value) => [label, `${verdict} ${value}`] as const),
  )
const reachesNothing = ({ network, walls }: Profile) => walls && network.allow.length === 0 && network.ask.length === 0

const mountText = ({ path, source, mode, persistent, required, description }: Profile['mounts'][number]) =>
  [
    path,
    mode,
    source === path ? '' : `from ${source}`,
    persistent ? 'persistent' : '',
    required ? '' : 'if it is there',
    description,
  ]
    .filter((part) => part !== '')
    .join(' · ')

const limitsText = ({ processes, openFiles, memoryMb, fileMb, diskMb, outputMb }: Profile['limits']) =>
  `${processes} processes, ${openFiles} open files, memory ${memoryMb} MB, one file ${fileMb} MB, disk ${diskMb} MB, output ${outputMb} MB`
