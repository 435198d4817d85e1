import type { Artifact, Message, Task, TaskArtifactUpdateEvent, TaskState, TaskStatus } from '@a2a-js/sdk'
import { Failure } from './failure.ts'
import { joinedWords, optionsIn, speechOf } from './parts.ts'
import { isOver, states } from './states.ts'

const maxArtifactBytes = 32 * 1024 * 1024
const mostArtifacts = 1_000
/** A role of the library: the agent's. */
const agent = 2

export interface Question {
  readonly id: string
  readonly text: string
  readonly options: readonly string[]
}

/** What a remote task says, by whichever way it comes: each thing once, in words, and its artifacts as they are at the end. */
export interface Hearing {
  readonly state: TaskState | undefined
  /** What it asks, while it waits for an answer that it has not been given. */
  readonly question: Question | undefined
  /** The one message that was all of its answer. */
  readonly direct: string | undefined
  status(status: TaskStatus | undefined): Promise<void>
  artifact(update: TaskArtifactUpdateEvent): Promise<void>
  /** The task as a whole: what was missed on the way is in it. */
  whole(task: Task): Promise<void>
  message(message: Message): Promise<void>
  /** The question that is asked now has been answered: seeing it again means nothing. */
  answered(): void
  artifacts(): Iterable<Artifact>
  /** What it came to, in words. */
  finish(): Promise<string>
}

export function hear(say: (record: object) => Promise<void>): Hearing {
  const seen = new Set<string>()
  const artifacts = new Map<string, Artifact>()
  const said = new Map<string, string>()
  const answered = new Set<string>()
  let state: TaskState | undefined
  let asked: Question | undefined
  let last = ''
  let ending = ''
  let direct: string | undefined
  let bytes = 0

  async function speak(text: string): Promise<void> {
    if (text.trim() === '') return
    last = text
    await say({ type: 'text', text })
  }

  async function messageOnce(message: Message | undefined): Promise<string> {
    if (!message) return ''
    const text = speechOf(message.parts ?? [])
    const id = message.messageId || text
    if (!seen.has(id)) {
      seen.add(id)
      await speak(text)
    }
    return text
  }

  async function tellArtifact(artifact: Artifact): Promise<void> {
    const text = joinedWords(artifact.parts)
    if (text.trim() === '' || said.get(artifact.artifactId) === text) return
    said.set(artifact.artifactId, text)
    await speak(text)
  }

  function put(artifact: Artifact): void {
    if (!artifacts.has(artifact.artifactId) && artifacts.size >= mostArtifacts)
      throw new Failure('output_limit', `The remote task has more than ${mostArtifacts} artifacts.`)
    artifacts.set(artifact.artifactId, artifact)
  }

  function count(artifact: Artifact): void {
    for (const { content } of artifact.parts)
      bytes += content?.$case === 'raw' ? content.value.byteLength : content?.$case === 'text' ? content.value.length : 0
    if (bytes > maxArtifactBytes)
      throw new Failure('output_limit', `The artifacts of the remote task are larger than ${maxArtifactBytes / 1_048_576} MB.`)
  }

  async function status(now: TaskStatus | undefined): Promise<void> {
    if (!now) return
    state = now.state
    if (now.state === states.inputRequired) {
      const parts = now.message?.parts ?? []
      const text = speechOf(parts)
      const id = now.message?.messageId || now.timestamp || text
      // It is asked in a question, and not said twice.
      if (now.message) seen.add(now.message.messageId || text)
      asked = {
        id,
        text: text.trim() || 'The remote agent waits for something, and does not say for what.',
        options: optionsIn(parts),
      }
      if (answered.has(id)) state = states.working
      return
    }
    asked = undefined
    // What it made comes before what it says at the end.
    if (isOver(now.state)) for (const artifact of artifacts.values()) await tellArtifact(artifact)
    ending = await messageOnce(now.message)
  }

  return {
    get state() {
      return state
    },
    get question() {
      return asked
    },
    get direct() {
      return direct
    },
    status,
    async artifact({ artifact: given, append, lastChunk }) {
      if (!given) return
      count(given)
      const before = append ? artifacts.get(given.artifactId) : undefined
      const artifact = before ? { ...before, parts: [...before.parts, ...given.parts] } : given
      put(artifact)
      const piece = joinedWords(given.parts)
      if (lastChunk) await tellArtifact(artifact)
      else if (piece !== '') await say({ type: 'piece', text: piece })
    },
    async whole(task) {
      for (const message of task.history ?? [])
        if (message.role === agent && message.messageId !== task.status?.message?.messageId) await messageOnce(message)
      artifacts.clear()
      bytes = 0
      for (const artifact of task.artifacts ?? []) {
        count(artifact)
        put(artifact)
      }
      await status(task.status)
    },
    async message(message) {
      direct = await messageOnce(message)
    },
    answered() {
      if (asked) answered.add(asked.id)
      state = states.working
      asked = undefined
    },
    artifacts: () => artifacts.values(),
    async finish() {
      for (const artifact of artifacts.values()) await tellArtifact(artifact)
      const words = [...artifacts.values()].map((artifact) => joinedWords(artifact.parts)).filter((text) => text.trim() !== '')
      return words.length > 0 ? words.join('\n\n') : (direct ?? (ending || last))
    },
  }
}
