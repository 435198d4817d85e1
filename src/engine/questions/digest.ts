import { createHash } from 'node:crypto'
import { canonicalJson } from '../../domain/canonical-json.ts'
import type { QuestionRow } from '../../store/tables.ts'

/** Of all that a person is shown and decides by. An answer may name it, and then answers exactly this. */
export function questionDigest(question: Pick<QuestionRow, 'kind' | 'text' | 'options' | 'multi_select'>): string {
  const { kind, text, options, multi_select: multiSelect } = question
  return `sha256:${createHash('sha256').update(canonicalJson({ kind, text, options, multiSelect })).digest('hex')}`
}
