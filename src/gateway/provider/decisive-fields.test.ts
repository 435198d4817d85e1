import { describe, expect, it } from 'vitest'
import { edited } from '../wires/json-members.ts'
import { modelEdits } from './decisive-fields.ts'

const sent = (text: string) => edited(Buffer.from(text), modelEdits(Buffer.from(text), 'target')).toString()

describe('a request that is passed on', () => {
  it('names the target wherever a provider may look for the model', () => {
    expect(sent('{"model":"a","Model":"b","x":{"model":"c"},"MODEL" : null}')).toBe(
      '{"model":"target","Model":"target","x":{"model":"c"},"MODEL" : "target"}',
    )
  })

  it.each([
    ['{"model":"a","models":["b"]}', /"models" .* leads elsewhere/],
    ['{"model":"a","Fallbacks":[{"model":"b"}]}', /"Fallbacks" .* leads elsewhere/],
    ['{"model":"a","api_base":"https://x.example"}', /"api_base" .* leads elsewhere/],
    ['{"model":"a","max_tokens":9000,"max_tokens":1}', /"max_tokens" .* twice/],
    ['{"model":"a","max_tokens":1,"Max_Tokens":9000}', /"Max_Tokens" .* unusual/],
    ['{"model":"a","max_tokens":1,"max_to\u212aens":9000}', /unusual/],
    ['{"generationConfig":{},"generation_config":{"candidateCount":8}}', /"generation_config" .* twice/],
    ['{"generationConfig":{"maxOutputTokens":1,"max_output_tokens":9000}}', /"max_output_tokens" .* twice/],
    ['{"model":"a","OPTIONS":{"num_predict":-1}}', /"OPTIONS" .* unusual/],
  ])('is refused where it could mean something else to the provider than to us: %s', (text, sentence) => {
    expect(() => sent(text)).toThrow(sentence)
  })

  it('keeps everything else as it is', () => {
    const text = '{"model":"target","models":null,"n":1,"max_tokens":5,"N_x":{"n":1,"n":2},"generationConfig":null,"options":[]}'
    expect(sent(text)).toBe(text)
  })
})
