import type { Command } from 'commander'
import { invalid } from '../../domain/error.ts'
import { withConnection } from '../connecting/connect.ts'
import type { Cli } from '../terminal/cli.ts'

export function define(command: Command, cli: Cli): void {
  command
    .description('Check the chain of hashes of the audit. Ends with 1 if something was changed or removed.')
    .option('--contains <hash>', 'a hash that you noted earlier and that must be in the chain')
    .addHelpText('after', '\nExample\n  pawl audit verify')
    .action((options: { contains?: string }) => verify(cli, options.contains))
}

async function verify(cli: Cli, contains: string | undefined): Promise<void> {
  if (contains !== undefined && !/^[0-9a-f]{64}$/.test(contains)) throw invalid('--contains takes a hash: 64 hexadecimal digits.')
  await withConnection(cli, { work: 'none' }, async ({ entrance }) => {
    const verdict = await entrance.verifyAudit({ contains })
    cli.exitCode = verdict.isWhole ? 0 : 1
    if (cli.globals.json) return cli.json(verdict)
    if (verdict.firstBad)
      return cli.out(cli.style('bad', `BROKEN at entry ${verdict.firstBad.seq}: ${verdict.firstBad.why}.`, process.stdout))
    cli.out(`whole: ${verdict.entries} entries${verdict.head === null ? '' : `, the last hash is ${verdict.head}`}`)
    if (verdict.head !== null)
      cli.say(
        'Keep that hash elsewhere; "pawl audit verify --contains <hash>" proves later that nothing before it was written anew.',
      )
  })
}
