import type { Command } from 'commander'
import { invalid } from '../../domain/error.ts'

export interface ScopeOptions {
  agent?: string
  user?: string
}

export function addScopeOptions(command: Command, verb: string): void {
  command
    .option('--agent <name>', `the agent whose runs ${verb}; all if left out`)
    .option('--user <name>', `the user whose runs ${verb}`)
}

export function scopeOf({ agent, user }: ScopeOptions): string {
  if (agent !== undefined && user !== undefined)
    throw invalid('Either --agent or --user: a secret is for one of them, or for all.')
  return agent !== undefined ? `agent:${agent}` : user !== undefined ? `user:${user}` : 'global'
}

export function describeScope(scope: string): string {
  const [kind, ...name] = scope.split(':')
  return kind === 'global' ? 'for all runs' : `for the runs of ${kind} ${name.join(':')}`
}
