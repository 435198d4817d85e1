import type { Turn } from '../port.ts'
import { createTextFlow, createTextKeeper, type TextFlow, type TextKeeper } from '../shared/text.ts'

/** What the program prints on stderr: told as it comes, and kept to explain a failure. */
export interface Complaints extends TextFlow {
  readonly kept: TextKeeper
}

export function hearComplaints(emit: Turn['emit']): Complaints {
  const kept = createTextKeeper(16_384)
  const flow = createTextFlow({
    keep: { add: (text) => kept.add(withoutNotice(text)), text: kept.text },
    send(lines) {
      const text = withoutNotice(lines)
      if (text.trim() !== '') return emit({ type: 'agent.stderr', data: { text } })
    },
  })
  return { ...flow, kept }
}

/** It is told so with each start in a folder that holds `.codex`, or the empty one that covers it: we want it so, and it explains no failure. */
const notice = /^\S+ +ERROR codex_\w+: Project-local config, hooks, and exec policies are disabled .*(?:\n +.*)*\n?/gm
const withoutNotice = (text: string) => text.replaceAll(notice, '')
