import type { Command } from 'commander'
import { carryOut, readService, removeService, serviceOf } from '../service/service.ts'
import type { Cli } from '../terminal/cli.ts'
import { oneLine } from '../text/plain.ts'

export function define(command: Command, cli: Cli): void {
  command
    .description('Stop the service and remove its file. Tasks stay; those that ran go on when a daemon is there again.')
    .option('--print', 'print what would be removed and change nothing')
    .addHelpText('after', '\nExample\n  pawl service uninstall')
    .action(async ({ print }: { print?: boolean }) => {
      const service = await serviceOf(cli)
      const isThere = (await readService(service.file)) !== undefined
      if (print) return cli.globals.json ? cli.json({ file: service.file, isThere }) : cli.out(service.file)
      if (isThere) {
        const { failed, said } = await carryOut(service.stop)
        await removeService(service)
        if (failed !== undefined)
          cli.say(`"${failed}" failed (${oneLine(said, 200)}); if the daemon still runs, end it with: pawl stop`)
      }
      if (cli.globals.json) cli.json({ file: service.file, removed: isThere })
      else cli.out(isThere ? `Removed ${oneLine(service.file)}` : `There is no service here (${oneLine(service.file)}).`)
    })
}
