import type { Utterance } from '../../domain/event/transcript.ts'
import type { RebuildPlace, SessionFiles } from '../port.ts'

/** One growing file per conversation, whose last line is its state. */
export const sessionFiles: SessionFiles = {
  id: /^demo-[0-9a-f]{16}$/,
  layouts: (vendorId) => [fileOf(vendorId)],
  rebuild: (transcript, { vendorId }: RebuildPlace) => ({
    path: fileOf(vendorId),
    content: `\n${JSON.stringify({ id: vendorId, ...stateAfter(transcript) })}`,
  }),
}

const fileOf = (vendorId: string) => `.pawl-demo/${vendorId}`

interface State {
  readonly state: 'working' | 'asking' | 'done'
  readonly prompt: string
  readonly answer?: string
}

/** The program asks this one question, and takes the next thing it hears for the answer. */
const question = /^What shall pawl-demo\.md put first: /

function stateAfter(transcript: readonly Utterance[]): State {
  let now: State = { state: 'working', prompt: '' }
  for (const said of transcript) {
    if (said.kind === 'user')
      now =
        now.state === 'asking'
          ? { state: 'working', prompt: now.prompt, answer: said.text.trim() }
          : { state: 'working', prompt: said.text.trim() }
    else if (said.kind === 'agent' && question.test(said.text)) now = { ...now, state: 'asking' }
    else if (said.kind === 'tool' && said.tool === 'write_file' && said.output !== undefined && !said.isError)
      now = { ...now, state: 'done' }
  }
  return now
}
