import type { Turn } from '../port.ts'
import { createTextFlow, createTextKeeper, cut, type TextFlow, type TextKeeper } from '../shared/text.ts'

/** What the program prints on stderr: told as it comes, and kept to explain a failure. */
export interface Complaints extends TextFlow {
  readonly kept: TextKeeper
}

export interface Retry {
  readonly attempt: number
  readonly delayMs?: number
  /** What it says of the failure that it would try again. */
  readonly said: string
  readonly status?: number
}

/** `onRetry` hears of the first time that it is about to try a model's call again by itself. */
export function hearComplaints(emit: Turn['emit'], onRetry: (retry: Retry) => void): Complaints {
  const kept = createTextKeeper(16_384)
  let open = ''
  let isTold = false
  const flow = createTextFlow({
    keep: { add: (lines) => kept.add(withoutNoise(lines)), text: kept.text },
    async send(lines) {
      const text = withoutNoise(lines)
      if (text.trim() !== '') await emit({ type: 'agent.stderr', data: { text } })
      if (isTold) return
      open = `${open}${lines}\n`.slice(-8_192)
      const retry = readRetry(open)
      if (!retry) return
      isTold = true
      const { attempt, delayMs, said } = retry
      await emit({ type: 'agent.retrying', data: { attempt, ...(delayMs !== undefined && { delayMs }), detail: cut(said, 200) } })
      onRetry(retry)
    },
  })
  return { ...flow, kept }
}

/** Nothing else tells of it, and it would go on for minutes. */
export function readRetry(lines: string): Retry | undefined {
  const found =
    /Attempt (\d{1,4}) failed(?: with status (\d{3}))?([\s\S]{0,4000}?)\. ?Retrying (?:after (\d{1,9})ms|with backoff)/.exec(
      lines,
    )
  if (!found) return undefined
  const [, attempt, status, words = '', delay] = found
  return {
    attempt: Number(attempt),
    said: words.replace(/^[:.\s]+/, '').trim() || (status === undefined ? 'unknown' : `status ${status}`),
    ...(delay !== undefined && { delayMs: Number(delay) }),
    ...(status !== undefined && { status: Number(status) }),
  }
}

/** What it prints at every start, and what it prints for its makers. */
const noise = new RegExp(
  `^(?:${[
    'Warning: (?:True color|256-color|Basic terminal).*',
    'YOLO mode is enabled\\..*',
    'Ripgrep is not available\\..*',
    '\\[STARTUP\\] .*',
    'Loaded cached credentials\\.',
  ].join('|')})\\n?`,
  'gm',
)
export const withoutNoise = (lines: string) => lines.replaceAll(noise, '')
