import { decide } from '../../domain/profile/decide.ts'
import type { LaunchSpec, Permission, Turn } from '../port.ts'
import { harmless } from '../shared/harmless.ts'

/** What looks only, for the case that nobody has decided what is free. */
const looking: readonly string[] = ['read', 'list', 'grep']

/** May the model have this call? Every one of them is asked about; most are answered here. */
export async function permitted(
  { toolAccess, disallowedTools = [], workspace }: LaunchSpec,
  { tool, input }: { tool: string; input: unknown },
  turn: Pick<Turn, 'permit'>,
): Promise<Permission> {
  if (disallowedTools.length > 0) {
    const { verdict, rule } = decide(taskRules(disallowedTools), { tool, input }, { workspace })
    if (verdict === 'deny') return { allow: false, message: `This task is not allowed to use ${rule ?? tool}.` }
  }
  const isFree = toolAccess ? toolAccess.free.includes(tool) : looking.includes(tool)
  return isFree ? { allow: true } : turn.permit({ tool, input: harmless(input) })
}

const taskRules = (deny: readonly string[]) => ({
  name: 'task',
  rules: { deny: [...deny], ask: [], allow: [] },
  otherwise: 'allow' as const,
  tools: { native: true, disabled: [] },
  skills: ['*'],
  subagents: ['*'],
})
