import type { TaskSummary } from '../../../src/domain/view/view.ts'

const words: Record<string, (detail: string | undefined) => string> = {
  slot: () => 'waits for a free slot',
  session: (id) => `waits for ${short(id)}, which runs on its session`,
  workspace: (id) => `waits for ${short(id)}, which works in its workspace`,
  user_slots: (user) => `waits until ${user} has a free slot`,
  cooldown: (detail) => `waits: ${detail}`,
  halted: () => 'waits: all agents are stopped',
  dependency: (ids) => `waits for ${(ids ?? '').split(', ').map(short).join(', ')}`,
  question: () => 'waits for an answer',
  permission: () => 'waits for a permission',
  subtasks: (detail) => detail ?? 'waits for its subtasks',
}

/** Why a task is where it is, in words. */
export function reasonWords(reason: NonNullable<TaskSummary['reason']>): string {
  return words[reason.kind]?.(reason.detail) ?? reason.detail ?? reason.kind.replaceAll('_', ' ')
}

const short = (id = '') => `…${id.slice(-5)}`
