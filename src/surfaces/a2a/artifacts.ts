import type { Artifact, StreamResponse } from '@a2a-js/sdk'
import type { ArtifactView } from '../../domain/files/view.ts'
import { replyOf } from '../../domain/task/reply.ts'
import type { TaskView } from '../../domain/view/view.ts'
import type { Runtime } from '../../operations/runtime.ts'
import type { ToldTask } from '../../operations/tasks/transcript.ts'
import { dataPart, rawPart, textPart, urlPart } from './say.ts'

/** A file of more bytes is named by its address, from which whoever has a token gets it. */
const inlineBytes = 1024 * 1024
/** A stream carries no larger piece: who reads it need not hold more at once. */
export const chunkBytes = 64 * 1024

/** What the task brought: the answer, if it ended well, and the files that its runs left. */
export async function artifactsOf(runtime: Runtime, task: ToldTask, filesAt: string): Promise<Artifact[]> {
  const answer = answerOf(task)
  const files = task.artifacts > 0 ? await runtime.listArtifacts(task.id) : []
  const left = await Promise.all(files.map((file) => fileArtifact(runtime, file, filesAt)))
  return [...left, ...(answer ? [answer] : [])]
}

/** The answer of a task that is done, or waits for somebody to say so. What went wrong is never among the artifacts. */
export function answerOf({
  state,
  reason,
  result,
  settings,
}: Pick<TaskView, 'state' | 'reason' | 'result' | 'settings'>): Artifact | undefined {
  if ((state !== 'completed' && state !== 'review') || !result) return undefined
  const text = replyOf({ result, reason })
  if (text === '') return undefined
  const structured = settings.outputSchema === undefined ? undefined : parsed(text)
  return artifact('result', 'result', [structured === undefined ? textPart(text) : dataPart(structured.value)])
}

export async function fileArtifact(runtime: Runtime, file: ArtifactView, filesAt: string): Promise<Artifact> {
  const { id, task, name, type, size } = file
  if (size > inlineBytes) return artifact(id, name, [urlPart(`${filesAt}/${task}/artifacts/${id}`, name, type)])
  const { content } = await runtime.readArtifact(task, id)
  try {
    const pieces: Uint8Array[] = []
    for await (const piece of content.bytes()) pieces.push(piece)
    return artifact(id, name, [rawPart(Buffer.concat(pieces), name, type)])
  } finally {
    await content.close()
  }
}

/** An artifact as a stream tells it: in pieces, the first of which begins it and the last of which says so. */
export function* chunksOf(
  whole: Artifact,
  task: { readonly id: string; readonly session: string },
): Generator<StreamResponse, void, undefined> {
  const pieces = whole.parts.flatMap((part) => {
    const { content } = part
    if (content?.$case === 'text') return cutText(content.value).map((value) => ({ ...part, content: { ...content, value } }))
    if (content?.$case === 'raw') return cutBytes(content.value).map((value) => ({ ...part, content: { ...content, value } }))
    return [part]
  })
  for (const [index, part] of pieces.entries())
    yield {
      payload: {
        $case: 'artifactUpdate',
        value: {
          taskId: task.id,
          contextId: task.session,
          artifact: { ...whole, parts: [part] },
          append: index > 0,
          lastChunk: index === pieces.length - 1,
          metadata: undefined,
        },
      },
    }
}

const artifact = (artifactId: string, name: string, parts: Artifact['parts']): Artifact => ({
  artifactId,
  name,
  description: '',
  parts,
  metadata: undefined,
  extensions: [],
})

function cutBytes(bytes: Buffer): Buffer[] {
  const pieces: Buffer[] = []
  for (let at = 0; at < bytes.length; at += chunkBytes) pieces.push(bytes.subarray(at, at + chunkBytes))
  return pieces.length === 0 ? [bytes] : pieces
}

/** By UTF-16 units, at most three bytes each; never between the two halves of a sign. */
function cutText(text: string): string[] {
  const most = Math.floor(chunkBytes / 3)
  const pieces: string[] = []
  for (let at = 0; at < text.length; ) {
    let end = Math.min(at + most, text.length)
    if (end < text.length && /[\ud800-\udbff]/.test(text[end - 1]!)) end -= 1
    pieces.push(text.slice(at, end))
    at = end
  }
  return pieces.length === 0 ? [text] : pieces
}

function parsed(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) }
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}
