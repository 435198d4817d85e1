import type { ContentBlock, PromptResponse } from '@agentclientprotocol/sdk'
import { z } from 'zod'
import type { McpServers } from '../../domain/agent/mcp-server.ts'
import type { TraceContext } from '../../domain/base/trace-context.ts'
import { invalid } from '../../domain/error.ts'
import { isEnded } from '../../domain/task/task.ts'
import { NewTask, type QuestionView } from '../../domain/view/view.ts'
import type { Editor } from './editor.ts'
import { type AcpHome, caller } from './home.ts'
import { type Choices, commandsOf } from './offers.ts'
import { readCommand, readPrompt } from './prompt.ts'
import { answerInWords } from './questions.ts'
import type { Told } from './replay.ts'
import { createTeller, type Teller } from './teller.ts'
import { startTurn, type Turn } from './turn.ts'

/** A session that an editor has open: what its next tasks are done with, and the turns that are on. */
export class OpenSession {
  readonly id: string
  readonly folder: string
  choices: Choices
  /** That the editor brings, for all tasks of the session. */
  readonly #servers: McpServers
  readonly #home: AcpHome
  readonly #editor: Editor
  readonly #turns = new Set<Turn>()
  /** Of the last tasks, so that a call which is told in one turn can return in the next. */
  readonly #tellers = new Map<string, Teller>()
  #cancels = 0

  constructor(options: {
    id: string
    folder: string
    choices: Choices
    servers: McpServers
    home: AcpHome
    editor: Editor
  }) {
    this.id = options.id
    this.folder = options.folder
    this.choices = options.choices
    this.#servers = options.servers
    this.#home = options.home
    this.#editor = options.editor
  }

  async prompt(
    blocks: readonly ContentBlock[],
    { signal, trace }: { signal: AbortSignal; trace?: TraceContext | undefined },
  ): Promise<PromptResponse> {
    const cancels = this.#cancels
    const said = readPrompt(blocks)
    const open = await this.#openQuestion()
    const turn = open ? await this.#answer(open, said.text) : await this.#begin(said, trace)
    const stop = () => void turn.cancel().catch(() => undefined)
    signal.addEventListener('abort', stop, { once: true })
    if (signal.aborted || this.#cancels > cancels) stop()
    try {
      return await turn.done
    } finally {
      signal.removeEventListener('abort', stop)
    }
  }

  /** Goes on with what was told before: a task that has not ended is shown to its end. */
  takeUp({ task, teller, after }: Told): void {
    this.#keep(task.id, teller)
    if (isEnded(task.state) || task.state === 'review') return
    void this.#home
      .adopt(task.id)
      .then(() => this.#follow(task.id, after).done)
      // Whoever loads the session sees where it stands; nobody waits for an answer.
      .catch(() => undefined)
  }

  async cancel(): Promise<void> {
    this.#cancels++
    await Promise.all([...this.#turns].map((turn) => turn.cancel()))
  }

  /** Nobody is told any more; the tasks go on. */
  leave(): void {
    for (const turn of this.#turns) turn.leave()
  }

  /** When no turn is on. */
  async rest(): Promise<void> {
    await Promise.allSettled([...this.#turns].map(({ done }) => done))
  }

  async #begin({ text, files }: ReturnType<typeof readPrompt>, trace: TraceContext | undefined): Promise<Turn> {
    const { agent, profile: named, ownProfile, model } = this.choices
    const profile = named === ownProfile ? undefined : named
    const command = /^\s*\//.test(text)
      ? readCommand(
          text,
          (await commandsOf(this.#home)).map(({ name }) => name),
        )
      : undefined
    const chosen = await this.#home.chooseAgent(this.folder, { agent, profile, servers: this.#servers })
    const attachments = await this.#handIn(files)
    const wanted = NewTask.safeParse({
      ...withoutNothing({ ...chosen, model, attachments, template: command?.name }),
      prompt: command ? command.rest || command.name : text,
      session: this.id,
      attended: true,
      ...(this.#home.allowHome ? { allowHome: true } : {}),
    })
    if (!wanted.success) throw invalid(z.prettifyError(wanted.error).replaceAll(/^✖ /gm, '').split('\n')[0]!)
    const idempotencyKey = `acp-${crypto.randomUUID()}`
    const { task } = await this.#home.use((runtime) => runtime.createTask(wanted.data, { ...caller, idempotencyKey, trace }))
    const title = text.trim().split('\n')[0]!.slice(0, 100)
    this.#editor.update(this.id, { sessionUpdate: 'session_info_update', title, updatedAt: task.updatedAt })
    return this.#follow(task.id, 0)
  }

  async #answer({ question, after }: { question: QuestionView; after: number }, said: string): Promise<Turn> {
    await this.#home.use((runtime) => runtime.answerQuestion(question.id, answerInWords(question, said), caller))
    await this.#home.adopt(question.task)
    return this.#follow(question.task, after)
  }

  /** What the last task asks and nobody has answered: the prompt is the answer, whichever process asked it. */
  async #openQuestion(): Promise<{ question: QuestionView; after: number } | undefined> {
    if (this.#turns.size > 0) return undefined
    const { lastTask, openQuestions } = await this.#home.use((runtime) => runtime.getSession(this.id))
    if (!lastTask || openQuestions === 0) return undefined
    const { questions } = await this.#home.use((runtime) => runtime.getTask(lastTask.id))
    const question = questions.find(({ state }) => state === 'pending')
    if (!question) return undefined
    for (let after = 0; ; ) {
      const from = after
      const events = await this.#home.use((runtime) => runtime.readEvents(question.task, { after: from, limit: 500 }))
      const asked = events.find((event) => event.type === 'question.asked' && event.data.questionId === question.id)
      if (asked || events.length === 0) return { question, after: asked?.seq ?? after }
      after = events.at(-1)!.seq
    }
  }

  async #handIn(files: ReturnType<typeof readPrompt>['files']): Promise<string[] | undefined> {
    if (files.length === 0) return undefined
    const ids: string[] = []
    for (const { name, content } of files) {
      const upload = await this.#home.use((runtime) => runtime.addUpload({ name, content: once(content) }, caller))
      ids.push(upload.id)
    }
    return ids
  }

  #follow(task: string, after: number): Turn {
    const shows = { notices: this.#editor.showsNotices }
    const send = (update: Parameters<Editor['update']>[1]) => this.#editor.update(this.id, update)
    const teller = this.#tellers.get(task) ?? createTeller({ task, folder: this.folder, shows, send })
    this.#keep(task, teller)
    const parts = { home: this.#home, editor: this.#editor, session: this.id, folder: this.folder }
    const turn = startTurn({ ...parts, task, teller, after })
    this.#turns.add(turn)
    const over = () => void this.#turns.delete(turn)
    turn.done.then(over, over)
    return turn
  }

  #keep(task: string, teller: Teller): void {
    this.#tellers.delete(task)
    this.#tellers.set(task, teller)
    for (const oldest of this.#tellers.size > mostTellers ? this.#tellers.keys() : []) {
      this.#tellers.delete(oldest)
      break
    }
  }
}

const mostTellers = 4

const withoutNothing = (fields: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}
