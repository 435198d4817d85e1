import { didYouMean } from '../../domain/base/nearest.ts'
import { invalid, type PawlError } from '../../domain/error.ts'
import type { Commands } from './command-table.ts'

export function mainHelp(commands: Commands): string {
  const groups = [...new Set(Object.values(commands).map((entry) => entry.group ?? ''))]
  const parts = groups.map((group) => {
    const mine = Object.entries(commands).filter(([, entry]) => (entry.group ?? '') === group)
    return `${group}\n${list(Object.fromEntries(mine))}`
  })
  return `Pawl runs coding agents unattended; what they have done never slips back.

pawl <command> [options]

${parts.join('\n\n')}

Examples
  pawl run "fix the failing test"
  pawl run --agent demo "show me what you do"
  git diff | pawl run --json -
  pawl run --detach "update the docs" && pawl logs -f last

Every command takes --json, --home, --quiet, --no-color and --help. Tasks, sessions,
runs, questions and schedules are named by their id or 4 or more characters of its end or
beginning; the newest is "last".`
}

export const groupHelp = (path: string, commands: Commands) => `${path} <command> [options]

${list(commands)}

"${path} <command> --help" says more.`

export function unknownCommand(name: string, at: { path: readonly string[]; commands: Commands }): PawlError {
  const known = Object.keys(at.commands)
  const group = known.find((each) => Object.hasOwn(at.commands[each]?.commands ?? {}, name))
  const hint = group === undefined ? didYouMean(name, known) : `; did you mean "${[...at.path, group, name].join(' ')}"?`
  return invalid(`There is no command "${[...at.path, name].join(' ')}"${hint} See "${at.path.join(' ')} --help".`)
}

function list(commands: Commands): string {
  const width = Math.max(...Object.keys(commands).map((name) => name.length))
  return Object.entries(commands)
    .map(([name, entry]) => `  ${name.padEnd(width)}  ${entry.summary}`)
    .join('\n')
}
