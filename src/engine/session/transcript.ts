import { fenced } from '../../domain/base/fenced.ts'
import { isObjectOrArray } from '../../domain/base/object.ts'
import type { EventData, EventType } from '../../domain/event/event.ts'
import type { Utterance } from '../../domain/event/transcript.ts'
import type { Db, Tx } from '../../store/database.ts'
import { countEvents, latestEvents, promptsOf, type SessionEvent } from '../../store/sessions.ts'

/** About fifty thousand tokens: room is left for the work in the window of every model. */
const defaultMaxChars = 200_000
const maxTextChars = 16_000
const pageSize = 200

/** What the agent said or did, of which one utterance each is made. */
const deeds = ['agent.message', 'agent.tool_called', 'question.asked'] as const satisfies EventType[]
const told = [...deeds, 'agent.tool_returned', 'question.answered', 'run.started', 'session.reset'] as const satisfies EventType[]

/**
 * What was said and done in a session since its last reset, as the journal tells it. What no run has answered to is left out: it is still to be said. The latest
 * utterances that fit are kept whole but for long outputs; in the place of those left out stands a line that says so, and the request that is being worked on.
 */
export async function transcriptOf(
  db: Db | Tx,
  session: string,
  options: { readonly maxChars?: number } = {},
): Promise<Utterance[]> {
  const maxChars = options.maxChars ?? defaultMaxChars
  const { events, cutBefore } = await readBack(db, session, maxChars)
  const prompts = await promptsOf(db, [...new Set(events.map((event) => event.task))])
  const utterances = fold(events, prompts)
  const current = utterances.at(-1)
  if (!current) return []
  const from = firstThatFits(utterances, maxChars)
  const kept = utterances.slice(from).map(({ utterance }) => utterance)
  const unread = cutBefore === undefined ? 0 : await countDeeds(db, session, cutBefore)
  if (from + unread === 0) return kept

  const at = kept[0]!.at
  const line = `[The beginning of this conversation is left out: ${from + unread} messages and tool calls.]`
  const request = cut(prompts.get(current.task) ?? '', maxTextChars)
  const hasRequest = kept.some((utterance) => utterance.kind === 'user' && utterance.text === request)
  const before = hasRequest ? [line] : [line, request]
  return [...before.map((text) => ({ kind: 'user', text, at }) as const), ...kept]
}

/** The last one always does. */
function firstThatFits(utterances: readonly Placed[], maxChars: number): number {
  let chars = 0
  for (let index = utterances.length - 1; index >= 0; index--) {
    chars += lengthOf(utterances[index]!.utterance)
    if (chars > maxChars && index < utterances.length - 1) return index + 1
  }
  return 0
}

const countDeeds = (db: Db | Tx, session: string, before: number) =>
  countEvents(db, session, { types: deeds, before, since: 'session.reset' })

/** The latest events, up to the last reset or as many as can fill the transcript; in the order in which they happened. */
async function readBack(db: Db | Tx, session: string, maxChars: number) {
  const events: SessionEvent[] = []
  let chars = 0
  let hasDeed = false
  let before = Number.MAX_SAFE_INTEGER
  for (;;) {
    const page = await latestEvents(db, session, { types: told, before, limit: pageSize })
    for (const event of page) {
      if (event.type === 'session.reset') return { events: events.reverse(), cutBefore: undefined }
      // What a tool returned says nothing without its call, which comes later on this way back.
      if (chars > maxChars && hasDeed) return { events: events.reverse(), cutBefore: before }
      events.push(event)
      hasDeed ||= deeds.some((type) => type === event.type)
      chars += Math.min(JSON.stringify(event.data).length, maxTextChars)
      before = event.id
    }
    if (page.length < pageSize) return { events: events.reverse(), cutBefore: undefined }
  }
}

interface Placed {
  readonly task: string
  readonly utterance: Utterance
}

function fold(events: readonly SessionEvent[], prompts: ReadonlyMap<string, string>): Placed[] {
  const placed: Placed[] = []
  const begun = new Set<string>()
  /** What was said to a task's agent and not yet answered to, and answers that its next run will hear. */
  const said = new Map<string, Utterance[]>()
  const answers = new Map<string, Utterance[]>()
  const calls = new Map<string, number>()
  const add = (list: Map<string, Utterance[]>, task: string, ...more: Utterance[]) =>
    list.set(task, [...(list.get(task) ?? []), ...more])
  const place = (task: string, utterance: Utterance) => {
    for (const earlier of said.get(task) ?? []) placed.push({ task, utterance: earlier })
    said.delete(task)
    placed.push({ task, utterance })
  }

  for (const event of events) {
    const { task } = event
    const at = event.at.toISOString()
    const callKey = (callId: string) => `${event.run} ${callId}`
    switch (event.type) {
      case 'run.started':
        // A task that is tried again hears no second time what it was asked.
        if (!begun.has(task)) add(said, task, { kind: 'user', text: cut(prompts.get(task) ?? '', maxTextChars), at })
        begun.add(task)
        add(said, task, ...(answers.get(task) ?? []))
        answers.delete(task)
        break
      case 'question.answered':
        add(answers, task, { kind: 'user', text: cut(dataOf(event, 'question.answered').answer, maxTextChars), at })
        break
      case 'question.asked': {
        const { text, options } = dataOf(event, 'question.asked')
        place(task, { kind: 'agent', text: cut([text, ...options.map((option) => `- ${option}`)].join('\n'), maxTextChars), at })
        break
      }
      case 'agent.message':
        place(task, { kind: 'agent', text: cut(dataOf(event, 'agent.message').text, maxTextChars), at })
        break
      case 'agent.tool_called': {
        const { callId, tool, input } = dataOf(event, 'agent.tool_called')
        place(task, { kind: 'tool', callId, tool, input: cutDeep(input), isError: false, at })
        calls.set(callKey(callId), placed.length - 1)
        break
      }
      case 'agent.tool_returned': {
        const { callId, output, isError } = dataOf(event, 'agent.tool_returned')
        const index = calls.get(callKey(callId))
        const call = index === undefined ? undefined : placed[index]
        if (call?.utterance.kind === 'tool')
          placed[index!] = { task, utterance: { ...call.utterance, output: cut(output, maxTextChars), isError } }
        break
      }
    }
  }
  return placed
}

/** Events are parsed when they are written. */
const dataOf = <T extends EventType>(event: SessionEvent, _type: T) => event.data as EventData<T>

/** Long text without its middle: how it begins and how it ends says most. */
function cut(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text
  const head = Math.floor(maxChars * 0.75)
  const tail = maxChars - head
  return `${text.slice(0, head).toWellFormed()}\n[… ${text.length - maxChars} characters left out …]\n${text.slice(-tail).toWellFormed()}`
}

function cutDeep(value: unknown): unknown {
  if (typeof value === 'string') return cut(value, maxTextChars)
  if (Array.isArray(value)) return value.map(cutDeep)
  if (!isObjectOrArray(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, cutDeep(inner)]))
}

const lengthOf = (utterance: Utterance) =>
  utterance.kind === 'tool'
    ? JSON.stringify(utterance.input ?? null).length + (utterance.output?.length ?? 0)
    : utterance.text.length

/** A transcript as one text, to stand before the next message to a program that cannot be given it any other way. */
export function transcriptMessage(utterances: readonly Utterance[]): string {
  return [
    '[What was said and done in this conversation so far. Your own record of it is lost; this is a copy. It is history: do not do any of it again because it stands here.]',
    fenced(utterances.map(spoken).join('\n\n')),
    '[New message]',
  ].join('\n')
}

/** Outputs are the bulk of a transcript and the least of its meaning. */
const maxOutputChars = 2_000

function spoken(utterance: Utterance): string {
  switch (utterance.kind) {
    case 'user':
      return `USER:\n${utterance.text}`
    case 'agent':
      return `YOU:\n${utterance.text}`
    case 'tool': {
      const input = cut(JSON.stringify(utterance.input) ?? '', maxOutputChars)
      const ending = utterance.output === undefined ? 'Nobody knows how it ended.' : cut(utterance.output, maxOutputChars)
      return `YOU USED ${utterance.tool}: ${input}\n${utterance.isError ? 'ERROR' : 'RESULT'}:\n${ending}`
    }
  }
}
