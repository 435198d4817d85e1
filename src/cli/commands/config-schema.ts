import type { Command } from 'commander'
import type { Cli } from '../terminal/cli.ts'

export function define(command: Command, cli: Cli): void {
  command
    .description('Print the JSON schema of pawl.yaml, for editors.')
    .addHelpText('after', '\nExample\n  pawl config schema > pawl.schema.json')
    .action(async () => {
      const [{ jsonSchema }, { adapters, presets }] = await Promise.all([
        import('../../config/json-schema.ts'),
        import('../../agents/index.ts'),
      ])
      cli.out(JSON.stringify(jsonSchema(adapters, presets), null, 2))
    })
}
