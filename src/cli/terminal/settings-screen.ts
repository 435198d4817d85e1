import type { SettingEffect, SettingsChanged } from '../../domain/view/settings.ts'
import { oneLine } from '../text/plain.ts'
import type { Cli } from './cli.ts'

/** What a change of the settings has done, and what it has not done yet. */
export function sayChanged(cli: Cli, changed: SettingsChanged, isDaemon: boolean): void {
  if (cli.globals.json) {
    cli.json(changed)
    return
  }
  if (changed.changed.length === 0) cli.say('Nothing is otherwise than before.')
  for (const { path, by } of changed.overruled)
    cli.say(`${oneLine(path)} stands in the file now, but ${oneLine(by)} wins over it.`)
  for (const { path, before, after, effect } of changed.changed)
    cli.out(`${oneLine(path)}: ${written(before)} → ${written(after)}${isDaemon ? `  (${effects[effect]})` : ''}`)
  if (isDaemon && changed.restart) cli.say('Start the daemon again for the rest: pawl stop, then pawl serve.')
}

const effects: Record<SettingEffect, string> = {
  now: 'in force now',
  'new tasks': 'for tasks from now on',
  restart: 'after a restart',
}

const written = (value: unknown) =>
  value === null ? 'unset' : oneLine(typeof value === 'string' ? value : JSON.stringify(value), 200)
