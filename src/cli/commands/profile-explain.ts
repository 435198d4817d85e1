import type { Command } from 'commander'
import { sayOpenWalls } from '../connecting/open-sandbox.ts'
import type { Cli } from '../terminal/cli.ts'
import { oneLine } from '../text/plain.ts'

interface ExplainOptions {
  profile?: string
  agent?: string
}

export function define(command: Command, cli: Cli): void {
  command
    .description('Say what would become of a tool call, and which rule decides. Nothing is run.')
    .argument('<call>', `Tool(argument), for example 'Bash(git push)', or {"tool":…,"input":…}`)
    .option('--profile <name>', 'under this profile; guarded if neither it nor an agent is named')
    .option('--agent <name>', 'under the profile of this agent')
    .addHelpText('after', `\nExample\n  pawl profile explain 'Bash(git push)'`)
    .action((call: string, options: ExplainOptions) => explain(cli, call, options))
}

async function explain(cli: Cli, written: string, options: ExplainOptions): Promise<void> {
  const [{ profilesHere }, { parseCall }, { explainCall }] = await Promise.all([
    import('../connecting/profiles.ts'),
    import('../../domain/rule/call.ts'),
    import('../../domain/profile/view.ts'),
  ])
  const call = parseCall(written)
  const profile = (await profilesHere(cli)).chosen(options)
  const decision = explainCall(profile, { ...call, workspace: cli.cwd })
  sayOpenWalls(cli, profile)
  if (cli.globals.json) return cli.json(decision)
  const tone = { allow: 'good', ask: 'ask', deny: 'bad' } as const
  cli.out(`${cli.style(tone[decision.verdict], decision.verdict, process.stdout)}  ${oneLine(decision.why)}`)
  if (profile.walls) cli.say('Rules are a convenience; what the walls do not allow fails whatever they say.')
}
