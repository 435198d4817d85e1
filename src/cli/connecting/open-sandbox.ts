import type { Cli } from '../terminal/cli.ts'
import { print } from '../terminal/terminal.ts'

/** Said loudly, whatever else is said: --quiet silences hints, and this is none. */
export function sayOpenWalls(cli: Cli, profile: { readonly name: string; readonly walls: boolean } | undefined): void {
  if (!profile || profile.walls) return
  print(
    process.stderr,
    `${cli.style('bad', `NO WALLS: under the profile ${profile.name} the agent has all the rights of this user, unattended: every file, every host, every program.`)}\n`,
  )
}
