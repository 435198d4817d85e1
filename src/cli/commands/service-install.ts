import type { Command } from 'commander'
import { carryOut, serviceOf, writeService } from '../service/service.ts'
import type { Cli } from '../terminal/cli.ts'
import { printData } from '../terminal/terminal.ts'
import { oneLine } from '../text/plain.ts'

export function define(command: Command, cli: Cli): void {
  command
    .description(
      'Have the daemon of this home started by systemd (Linux) or launchd (macOS) for this user, now and at each login.',
    )
    .option('--print', 'print the file and write nothing')
    .addHelpText('after', '\nExamples\n  pawl service install --print\n  pawl service install')
    .action(async ({ print }: { print?: boolean }) => {
      const service = await serviceOf(cli)
      if (print) return cli.globals.json ? cli.json({ file: service.file, text: service.text }) : printData(service.text)
      const done = await writeService(service)
      const { failed, said } = await carryOut(service.start)
      if (cli.globals.json) cli.json({ file: service.file, done, started: failed === undefined })
      else cli.out(`${done === 'written' ? 'Wrote' : 'Unchanged:'} ${oneLine(service.file)}`)
      if (failed === undefined) cli.say(`Started. ${service.next}`)
      else {
        cli.say(`It could not be started from here (${oneLine(said, 200)}). Start it yourself:`)
        for (const words of service.start) cli.say(`  ${words.join(' ')}`)
        cli.say(service.next)
      }
    })
}
