import { invalid } from '../../domain/error.ts'
import { type Edit, type Member, membersOf, plainName } from '../wires/json-members.ts'

/** Decides who answers: wherever it stands, the provider's own name is put there. */
const model = 'model'
/** Some services take other models, or other servers, beside the one that is asked for. */
const elsewhere = new Set(['models', 'fallbacks', 'fallback_models', 'api_base', 'base_url', 'custom_llm_provider'])
/** What a call may cost is decided by these. */
const bounding = [
  ...['max_tokens', 'max_completion_tokens', 'max_output_tokens', 'n', 'best_of', 'stream', 'service_tier', 'speed'],
  ...['generationconfig', 'generation_config', 'options'],
]
const nestedBounding = ['maxoutputtokens', 'max_output_tokens', 'candidatecount', 'candidate_count', 'num_predict']
const top = new Set([model, ...elsewhere, ...bounding])
const nested = new Set(nestedBounding)
const spelled = new Set([...bounding, ...nestedBounding, 'generationConfig', 'maxOutputTokens', 'candidateCount'])

/**
 * The edits that put the provider's name of a model into a client's own text. What the text says must mean the same to the provider as to us: some read a field whose
 * name is written in capitals, some the first of two. Throws a `PawlError` that names the field where that is not sure.
 */
export function modelEdits(bytes: Buffer, target: string): Edit[] {
  const text = JSON.stringify(target)
  const edits: Edit[] = []
  const others: Member[] = []
  for (const member of membersOf(bytes, top)) {
    const { key, start, end } = member
    if (plainName(key) !== model) others.push(member)
    else if (bytes.toString('utf8', start, end) !== text) edits.push({ start, end, text })
  }
  assertOnce(bytes, others)
  for (const { key, start } of others)
    if (nesting.has(plainName(key)) && bytes[start] === openBrace) assertOnce(bytes, membersOf(bytes, nested, start))
  return edits
}

const nesting = new Set(['generationconfig', 'generation_config', 'options'])
const openBrace = 0x7b

function assertOnce(bytes: Buffer, members: readonly Member[]): void {
  const seen = new Set<string>()
  for (const { key, start, end } of members) {
    const plain = plainName(key)
    if (elsewhere.has(plain)) {
      if (bytes.toString('utf8', start, end) === 'null') continue
      throw invalid(`"${key}" of the request leads elsewhere than to the model that is asked for; leave it out.`)
    }
    if (!spelled.has(key)) throw invalid(`"${key}" of the request is written in an unusual way; write it in its usual one.`)
    // Google takes a name in either case.
    const name = plain.replaceAll('_', '')
    if (seen.has(name)) throw invalid(`"${key}" of the request is given twice; give it once.`)
    seen.add(name)
  }
}
