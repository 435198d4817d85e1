import { createHash } from 'node:crypto'
import { canonicalJson } from '../../domain/base/canonical-json.ts'
import type { QuestionRow } from '../../store/tables.ts'

/** Of all that a person is shown and decides by. An answer may name it, and then answers exactly this. */
export function questionDigest(question: Pick<QuestionRow, 'kind' | 'text' | 'options' | 'multi_select' | 'call'>): string {
  const { kind, text, options, multi_select: multiSelect, call } = question
  const shown = { kind, text, options, multiSelect, ...(call ? { call: [call.tool, call.inputDigest] } : {}) }
  return `sha256:${createHash('sha256').update(canonicalJson(shown)).digest('hex')}`
}
