import type { Command } from 'commander'
import { carryOut, readService, serviceOf } from '../service/service.ts'
import type { Cli } from '../terminal/cli.ts'
import { oneLine } from '../text/plain.ts'

export function define(command: Command, cli: Cli): void {
  command
    .description('Say whether the service is installed, up to date, and running. Ends with 0 if it runs, else with 1.')
    .addHelpText('after', '\nExample\n  pawl service status --json')
    .action(async () => {
      const service = await serviceOf(cli)
      const text = await readService(service.file)
      const { failed, said } = text === undefined ? { failed: 'none', said: '' } : await carryOut([service.state])
      const isRunning = failed === undefined
      const status = { installed: text !== undefined, current: text === service.text, running: isRunning, file: service.file }
      cli.exitCode = isRunning ? 0 : 1
      if (cli.globals.json) return cli.json(status)
      cli.out(`installed  ${status.installed ? `yes, ${oneLine(service.file)}` : 'no'}`)
      if (status.installed) cli.out(`current    ${status.current ? 'yes' : 'no: it starts another program or home'}`)
      cli.out(`running    ${isRunning ? 'yes' : `no${said === '' ? '' : ` (${oneLine(said, 200)})`}`}`)
      if (!status.installed || !status.current) cli.say('Write it with: pawl service install')
    })
}
