import type { Command } from 'commander'
import type { Cli } from '../terminal/cli.ts'

/** What a command's file exports: it describes its arguments and says what to do with them. */
export interface CommandModule {
  define(command: Command, cli: Cli): void
}

export interface CommandEntry {
  readonly summary: string
  /** Loaded only when asked for: every start pays for what it imports. */
  readonly load?: () => Promise<CommandModule>
  readonly commands?: Commands
  readonly group?: string
}
export type Commands = Readonly<Record<string, CommandEntry>>
