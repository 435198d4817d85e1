import { visibleExactly } from '../../domain/base/visible.ts'
import { shortfallOf } from '../../domain/task/task.ts'
import type { QuestionView, TaskSummary } from '../../domain/view/view.ts'
import { formatAge, formatMoney, formatState, formatTaskState, formatUntil, shortId } from '../text/format.ts'
import { oneLine, widthOf, wrap } from '../text/plain.ts'
import type { Tone } from '../text/render.ts'
import type { Overview } from './overview.ts'

/** What a row of the list stands for. */
export interface Item {
  readonly key: string
  readonly task: string
  readonly question?: QuestionView | undefined
  readonly summary?: TaskSummary | undefined
}

export interface Line {
  readonly text: string
  readonly tone: Tone | 'title'
  readonly item?: Item
}

export type Mode =
  | { readonly kind: 'list' }
  | { readonly kind: 'help' }
  | { readonly kind: 'confirm'; readonly text: string }
  | {
      readonly kind: 'answer'
      readonly title: string
      readonly text: string
      readonly options: readonly string[]
      readonly typed: string
    }

export interface TopState {
  readonly overview: Overview | undefined
  readonly selected: string | undefined
  readonly mode: Mode
  readonly notice: string
  /** `none`: there is no daemon, and nothing runs. */
  readonly link: 'live' | 'away' | 'none'
  readonly nowMs: number
}

/** The list of the overview: headings, and a line for each thing that can be chosen. */
export function listLines({ overview, nowMs }: Pick<TopState, 'overview' | 'nowMs'>, columns: number): Line[] {
  if (!overview) return [{ text: 'Looking…', tone: 'faint' }]
  const { counts } = overview
  const needs: Line[] = [
    ...overview.trouble.map((text) => ({ text: `  ! ${oneLine(text, columns - 4)}`, tone: 'bad' as const })),
    ...overview.questions.map((question) => questionLine(question, overview, { nowMs, columns })),
    ...overview.waiting.map((task) => taskLine(task, 'ask', waitingText(task), columns)),
  ]
  const section = (title: string, count: number, lines: readonly Line[]): Line[] =>
    lines.length === 0 ? [] : [{ text: `${title} ${count}`, tone: 'title' }, ...lines]
  const lines = [
    ...(needs.length > 0 ? section('NEEDS YOU', needs.length, needs) : [{ text: 'Nothing needs you.', tone: 'faint' as const }]),
    ...section(
      'RUNNING',
      counts.running ?? overview.running.length,
      overview.running.map((task) => taskLine(task, task.interrupted ? 'bad' : 'normal', runningText(task, columns), columns)),
    ),
    ...section(
      'PARKED',
      counts.parked ?? overview.parked.length,
      overview.parked.map((task) => taskLine(task, 'normal', parkedText(task, nowMs), columns)),
    ),
    ...section(
      'QUEUED',
      overview.queued.length,
      overview.queued.map((task) => taskLine(task, 'faint', queuedText(task), columns)),
    ),
    ...section(
      'DONE TODAY',
      overview.doneToday.length,
      overview.doneToday.map((task) => taskLine(task, doneTone(task), doneText(task, nowMs), columns)),
    ),
  ]
  return lines
}

/** The whole screen, and where the cursor of a text that is being typed stands. */
export function screenLines(
  state: TopState,
  { columns, rows }: { columns: number; rows: number },
): { lines: (Line & { isSelected?: boolean })[]; cursor?: { row: number; column: number } } {
  const panel = panelLines(state, { columns, rows })
  const room = Math.max(1, rows - 2 - panel.lines.length)
  const all = state.mode.kind === 'help' ? helpLines(columns) : listLines(state, columns)
  const chosen = all.findIndex(({ item }) => item !== undefined && item.key === state.selected)
  // The heading above the first of a kind is worth a line.
  const from = Math.max(0, Math.min(all.length - room, Math.max(0, chosen - room + 1)))
  const body = all.slice(from, from + room).map((line) => {
    const isSelected = line.item !== undefined && line.item.key === state.selected
    return isSelected ? { ...line, text: `>${line.text.slice(1)}`, isSelected } : line
  })
  const lines = [header(state, columns), { text: '', tone: 'normal' as const }, ...body]
  while (lines.length < rows - panel.lines.length) lines.push({ text: '', tone: 'normal' })
  const row = lines.length + panel.lines.length - 1
  return { lines: [...lines, ...panel.lines], ...(panel.column === undefined ? {} : { cursor: { row, column: panel.column } }) }
}

function header({ overview, link }: TopState, columns: number): Line {
  const money = overview
    ? `${formatMoney(overview.spentUsd)}${overview.capUsd === null ? '' : ` of ${formatMoney(overview.capUsd)}`} today`
    : ''
  const how = {
    live: 'live',
    away: 'RECONNECTING: what you see may be old',
    none: 'no daemon: nothing runs, start "pawl serve"',
  }[link]
  const right = [money, how].filter(Boolean).join(' · ')
  const left = 'pawl'
  const gap = columns - widthOf(left) - widthOf(right)
  return {
    text: gap >= 2 ? `${left}${' '.repeat(gap)}${right}` : oneLine(`${left} · ${right}`, columns),
    tone: link === 'live' ? 'faint' : 'bad',
  }
}

function panelLines(
  { mode, notice }: TopState,
  { columns, rows }: { columns: number; rows: number },
): { lines: Line[]; column?: number } {
  switch (mode.kind) {
    case 'list': {
      const keys =
        columns < 60
          ? 'enter open · a answer · ? help · q quit'
          : 'up/down · enter open · a answer · c cancel · r retry · ? help · q quit'
      return {
        lines: [
          notice === '' ? { text: oneLine(keys, columns), tone: 'faint' } : { text: oneLine(notice, columns), tone: 'normal' },
        ],
      }
    }
    case 'help':
      return { lines: [{ text: 'Any key goes back.', tone: 'faint' }] }
    case 'confirm':
      return { lines: [{ text: oneLine(mode.text, columns), tone: 'ask' }] }
    case 'answer': {
      const text = wrap(visibleExactly(mode.text), columns - 2)
        .split('\n')
        .map((line) => ({ text: `  ${oneLine(line, columns - 2)}`, tone: 'normal' as const }))
      const options = mode.options.map((option, i) => ({
        text: `  ${i + 1}. ${oneLine(visibleExactly(option), columns - 6)}`,
        tone: 'normal' as const,
      }))
      const most = Math.max(1, Math.floor(rows / 2) - options.length)
      const typed = tail(mode.typed, columns - 3)
      return {
        lines: [
          { text: oneLine(mode.title, columns), tone: 'ask' },
          ...(text.length > most
            ? [...text.slice(0, most - 1), { text: '  … (enter opens the whole of it)', tone: 'faint' as const }]
            : text),
          ...options,
          { text: oneLine(notice === '' ? 'Enter sends it, Esc leaves it open.' : notice, columns), tone: 'faint' },
          { text: `> ${typed}`, tone: 'normal' },
        ],
        column: 2 + widthOf(typed),
      }
    }
  }
}

/** The end of what is typed, as far as it fits. */
function tail(text: string, columns: number): string {
  let kept = text
  while (widthOf(kept) > columns) kept = [...kept].slice(1).join('')
  return kept
}

const helpLines = (columns: number): Line[] =>
  Object.entries({
    'up, down, k, j': 'move',
    enter: 'open the task: what happened, live; q comes back',
    a: 'answer the question, or say what becomes of a review',
    c: 'cancel the task (asks once more)',
    r: 'retry a task that has ended; let a parked one go on now',
    'g, G': 'first, last',
    'q, Ctrl-C': 'leave; nothing is stopped by it',
  }).map(([keys, what]) => {
    const lead = keys.padEnd(columns < 60 ? 15 : 18)
    return { text: lead + oneLine(what, columns - lead.length), tone: 'normal' }
  })

function questionLine(
  question: QuestionView,
  { running, asking }: Overview,
  { nowMs, columns }: { nowMs: number; columns: number },
): Line {
  const summary = [...running, ...asking].find(({ id }) => id === question.task)
  const left =
    question.deadline === null ? '' : ` (${formatUntil(question.deadline, nowMs)} ${question.afterDeadline?.kind ?? 'deny'})`
  const what = question.kind === 'permission' ? 'permission' : 'asks'
  const text = `${what}${left}: ${oneLine(question.text, columns)}`
  return {
    ...row(question.task, summary?.agent ?? '', text, columns),
    tone: 'ask',
    item: { key: question.id, task: question.task, question, summary },
  }
}

const taskLine = (task: TaskSummary, tone: Tone, text: string, columns: number): Line => ({
  ...row(task.id, task.agent, text, columns),
  tone,
  item: { key: task.id, task: task.id, summary: task },
})

/** The agent has no column of its own where there is no room for it. */
function row(id: string, agent: string, text: string, columns: number): Pick<Line, 'text'> {
  const name = oneLine(agent, 12)
  const lead = `  ${shortId(id)}  ${columns < 60 ? '' : `${name}${' '.repeat(Math.max(0, 12 - widthOf(name)))}  `}`
  return { text: lead + oneLine(text, Math.max(1, columns - widthOf(lead))) }
}

const about = ({ name, prompt }: TaskSummary) => name ?? prompt
const reasonOf = ({ reason }: TaskSummary) => (reason ? formatState(reason.kind) : '')
const waitingText = (task: TaskSummary) =>
  `${task.state === 'review' ? formatTaskState(task) : `blocked (${reasonOf(task)})`}: ${about(task)}`
const runningText = (task: TaskSummary, columns: number) =>
  task.interrupted
    ? `${formatTaskState(task)}: ${about(task)}`
    : task.current === null
      ? about(task)
      : `${oneLine(task.current, Math.floor(columns / 2))} | ${about(task)}`
const parkedText = (task: TaskSummary, nowMs: number) =>
  `${task.resumeAt === null ? 'waits' : formatUntil(task.resumeAt, nowMs)}${task.reason ? ` (${reasonOf(task)})` : ''}: ${about(task)}`
const queuedText = (task: TaskSummary) => (task.reason ? `${about(task)} (${reasonOf(task)})` : about(task))
const doneText = (task: TaskSummary, nowMs: number) =>
  `${formatTaskState(task)}${task.proof === 'verified' ? ' and verified' : ''} ${formatAge(nowMs - Date.parse(task.endedAt ?? task.updatedAt))}: ${about(task)}`
const doneTone = (task: TaskSummary): Tone =>
  shortfallOf(task) !== undefined ? 'ask' : task.state === 'completed' ? 'good' : task.state === 'cancelled' ? 'faint' : 'bad'
