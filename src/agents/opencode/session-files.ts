import { isObject } from '../../domain/base/object.ts'
import type { Utterance } from '../../domain/event/transcript.ts'
import type { RebuildPlace, SessionFiles } from '../port.ts'
import { providerId } from './settings.ts'

/** One database for all conversations of a home; a session's home holds those of that session only. */
export const databaseFile = '.local/share/opencode/opencode.db'
/** Where a conversation waits that the program is to take into its database when it starts. */
export const importFile = (vendorId: string) => `.local/share/opencode/pawl-${vendorId}.json`

/** What was said last stands in the second file until the program moves it into the first, so that neither is of use without the other. */
export const sessionFiles: SessionFiles = {
  id: /^ses_[A-Za-z0-9]{8,64}$/,
  layouts: (vendorId) => [importFile(vendorId), databaseFile],
  rewritten: { with: [`${databaseFile}-wal`], without: [`${databaseFile}-shm`] },
  rebuild: (transcript, place) => ({ path: importFile(place.vendorId), content: JSON.stringify(exported(transcript, place)) }),
}

/** The conversation as `opencode export` would write it. */
function exported(transcript: readonly Utterance[], place: RebuildPlace) {
  const { vendorId, workspace, model = 'unknown', version } = place
  const of = (index: number) => Date.parse(transcript[index]?.at ?? '') || 0
  const time = { created: of(0), updated: of(transcript.length - 1) }
  const messages: { info: Record<string, unknown>; parts: Record<string, unknown>[] }[] = []
  let asked = ''
  transcript.forEach((said, index) => {
    const isUser = said.kind === 'user'
    // Ids are compared as texts: the later one must be the greater.
    const number = String(index).padStart(8, '0')
    const last = messages.at(-1)
    const ids = { sessionID: vendorId, messageID: `msg_${number}` }
    if (isUser || !last || last.info.role === 'user') {
      const common = { id: ids.messageID, sessionID: vendorId, role: isUser ? 'user' : 'assistant', agent: 'build' }
      const at = of(index)
      messages.push({
        info: isUser
          ? { ...common, time: { created: at }, model: { providerID: providerId, modelID: model } }
          : { ...common, ...answering(asked, model, workspace), time: { created: at, completed: at } },
        parts: [],
      })
      if (isUser) asked = ids.messageID
    }
    const message = messages.at(-1)!
    message.parts.push({
      id: `prt_${number}`,
      sessionID: vendorId,
      messageID: message.info.id,
      ...partOf(said, index, of(index)),
    })
  })
  const info = {
    id: vendorId,
    slug: 'pawl',
    projectID: 'global',
    directory: workspace,
    title: 'Pawl',
    version: version ?? '1.0.0',
    time,
  }
  return { info, messages }
}

const answering = (parentID: string, modelID: string, workspace: string) => ({
  parentID,
  modelID,
  providerID: providerId,
  mode: 'build',
  path: { cwd: workspace, root: workspace },
  cost: 0,
  tokens: { input: 0, output: 0, reasoning: 0, cache: { read: 0, write: 0 } },
  finish: 'stop',
})

function partOf(said: Utterance, index: number, at: number): Record<string, unknown> {
  if (said.kind !== 'tool') return { type: 'text', text: said.text }
  const input = isObject(said.input) ? said.input : { input: said.input ?? null }
  const time = { start: at, end: at }
  const output = said.output ?? 'Nobody knows how this call ended.'
  const state = said.isError
    ? { status: 'error', input, error: output, time }
    : { status: 'completed', input, output, title: said.tool, metadata: {}, time }
  // The model's own id of a call may come twice in one journal.
  return {
    type: 'tool',
    callID: `call_${index}_${said.callId}`.slice(0, 64),
    tool: said.tool.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 64) || 'tool',
    state,
  }
}
