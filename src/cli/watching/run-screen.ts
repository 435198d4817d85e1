import type { Event } from '../../domain/event/event.ts'
import type { Growing } from '../../domain/event/live-text.ts'
import { type Reason, shortfallOf } from '../../domain/task/task.ts'
import type { TaskView } from '../../domain/view/view.ts'
import type { Cli } from '../terminal/cli.ts'
import { LiveLine, lastWords } from '../terminal/live-line.ts'
import { eventLines } from '../terminal/show-events.ts'
import { durationOf, formatCost, formatElapsed, formatState, formatTaskState, shortId } from '../text/format.ts'
import { restLines } from '../text/outcome.ts'
import { oneLine, plain } from '../text/plain.ts'
import { renderEvent } from '../text/render.ts'

export type OutputFormat = 'text' | 'json' | 'stream-json'

/** What `pawl run` shows: progress on stderr while it goes, the result on stdout once at the end. */
export class RunScreen {
  readonly #cli: Cli
  readonly #format: OutputFormat
  readonly #live: LiveLine
  readonly #isProgressShown: boolean
  #state = 'starting'
  /** When a parked task goes on. */
  #until: string | undefined
  #changed: string | undefined
  #isAsked = false
  #isFailureShown = false
  /** Where stdout and stderr are one screen, the last message may be the result itself, which must not stand there twice. */
  #held: Event | undefined
  #heldTimer: NodeJS.Timeout | undefined
  /** What the agent has said on the screen in this run, without its white space. */
  #said = ''
  #isAway = false

  constructor(cli: Cli, format: OutputFormat) {
    this.#cli = cli
    this.#format = format
    this.#isProgressShown = format === 'text' || (format === 'json' && process.stderr.isTTY === true)
    this.#live = new LiveLine(cli)
    if (this.#isProgressShown) this.#live.set('starting', '')
  }

  begin(task: TaskView): void {
    this.#state = formatTaskState(task)
    this.#until = task.state === 'parked' ? (task.resumeAt ?? undefined) : undefined
    if (!this.#isProgressShown) return
    this.#live.print(this.#cli.style('faint', `• task ${task.id}: ${oneLine(task.agent)} in ${oneLine(task.workspace)}`))
    this.#setLive('')
  }

  show(event: Event): void {
    if (this.#format === 'stream-json') this.#cli.json(event)
    if (event.type === 'question.asked') this.#isAsked = this.#isProgressShown
    if (event.type === 'workspace.changed') this.#changed = event.data.summary
    if (event.type === 'run.ended') this.#isFailureShown = this.#isProgressShown && event.data.message !== undefined
    const state = stateAfter(event)
    if (state !== undefined) this.#until = event.type === 'task.parked' ? event.data.until : undefined
    this.#state = state ?? this.#state
    if (!this.#isProgressShown) return
    if (event.type === 'agent.message' && this.#isOneScreen) this.#hold(event)
    else if (!this.#isSaidElsewhere(event)) {
      this.#flush()
      this.#print(event)
    }
    this.#setLive(event.type.startsWith('agent.') && event.type !== 'agent.usage' ? oneLine(renderEvent(event), 200) : '')
  }

  /** False where nothing but whole lines is shown. */
  get isDrawn(): boolean {
    return this.#isProgressShown && this.#live.isDrawn
  }

  /** The end of what is being said, until it is said. */
  grow(growing: Growing | undefined): void {
    if (growing) this.#setLive(lastWords(growing.text))
  }

  note(line: string): void {
    this.#flush()
    this.#live.note(line)
  }

  /** A daemon that is away must not look like an agent that is thinking. */
  daemon(state: 'live' | 'away'): void {
    this.#isAway = state === 'away'
    if (!this.#isProgressShown) return
    if (!this.#live.isDrawn) this.#live.note(this.#isAway ? `• ${away}` : '• the daemon is back')
    this.#setLive('')
  }

  /** Leaves the terminal to somebody else, until the next event. */
  pause(): void {
    this.#flush()
    this.#live.set('', '')
    this.#live.clear()
  }

  end(task: TaskView, { isDaemon }: { isDaemon: boolean }): void {
    const text = task.result?.text ?? ''
    const isHeld = this.#held?.type === 'agent.message' && this.#held.data.text === text
    if (isHeld) this.#drop()
    else this.#flush()
    this.#live.stop()
    if (this.#format === 'text') {
      const isOnScreen = this.#isOneScreen && !isHeld && this.#said.endsWith(squeezed(text))
      // What waits has no result yet; what it said so far was shown as it came.
      const isResult = task.state !== 'blocked' && task.state !== 'parked'
      if (text !== '' && isResult && !isOnScreen) this.#cli.out(plain(text).trimEnd())
    } else this.#cli.json({ ...(this.#format === 'stream-json' ? { type: 'result' } : {}), ...runResult(task) })
    if (this.#format === 'stream-json') return
    for (const line of restLines(task, { isDaemon, isAsked: this.#isAsked })) this.#cli.say(this.#cli.style('ask', line))
    this.#cli.say(this.#summary(task))
  }

  stop(): void {
    clearTimeout(this.#heldTimer)
    this.#live.stop()
  }

  #summary(task: TaskView): string {
    const isShort = shortfallOf(task) !== undefined
    const isBad = task.state === 'failed' || task.state === 'timed_out' || task.state === 'over_budget'
    const why = isBad && task.reason ? reasonOf(task.reason, { isDetailed: !this.#isFailureShown }) : ''
    const ranMs = task.runs.reduce((sum, run) => sum + durationOf(run), 0)
    const parts = [
      `${formatTaskState(task)}${task.proof === 'verified' ? ' and verified' : ''}${why}${ranMs === 0 ? '' : ` after ${formatElapsed(ranMs)}`}`,
      task.result?.costUsd ? formatCost(task.result.costUsd, task.result.costKnown) : undefined,
      this.#changed === undefined ? undefined : oneLine(this.#changed),
      `pawl logs ${shortId(task.id)}`,
    ]
    const tone = isShort ? 'ask' : task.state === 'completed' ? 'good' : isBad ? 'bad' : 'normal'
    return this.#cli.style(tone, `• ${parts.filter((part) => part !== undefined).join(' · ')}`)
  }

  /** By the first line, by the summary at the end, or by the question as it is put to the person. */
  #isSaidElsewhere(event: Event): boolean {
    switch (event.type) {
      case 'task.queued':
        return event.data.warning === undefined
      case 'run.ended':
        return event.data.outcome === 'succeeded' || event.data.outcome === 'blocked'
      case 'question.asked':
      case 'task.blocked':
        return this.#cli.isInteractive
      default:
        return unshown.has(event.type)
    }
  }

  get #isOneScreen(): boolean {
    return this.#format === 'text' && process.stdout.isTTY === true && process.stderr.isTTY === true && !this.#cli.globals.quiet
  }

  #hold(event: Event): void {
    this.#flush()
    this.#held = event
    this.#heldTimer = setTimeout(() => this.#flush(), 1500)
  }

  #drop(): void {
    clearTimeout(this.#heldTimer)
    this.#held = undefined
  }

  #flush(): void {
    const held = this.#held
    this.#drop()
    if (held) this.#print(held)
  }

  #setLive(action: string): void {
    this.#live.set(this.#isAway ? away : this.#state, this.#isAway ? '' : action, this.#isAway ? undefined : this.#until)
  }

  #print(event: Event): void {
    if (event.type === 'run.started') this.#said = ''
    if (event.type === 'agent.message' && this.#isOneScreen) this.#said += squeezed(event.data.text)
    const lines = eventLines(this.#cli, event, { time: false, stream: process.stderr })
    // What an agent says keeps its lines as they are: it may be code.
    if (event.type.startsWith('agent.')) this.#live.print(lines)
    else this.#live.note(lines)
  }
}

const away = 'the daemon is away; waiting for it'
const squeezed = (text: string) => text.replace(/\s+/g, '')

const unshown: ReadonlySet<Event['type']> = new Set([
  'task.completed',
  'task.review',
  'task.failed',
  'task.timed_out',
  'task.cancelled',
  'task.over_budget',
  'run.admitted',
  'agent.usage',
  'agent.session',
  'workspace.changed',
])

/** The shape of `pawl run --json`, which outside programs rely on. */
export function runResult(task: TaskView) {
  const { id, state, reason, resumeAt, agent, session } = task
  const questions = task.questions.filter((question) => question.state === 'pending')
  return { task: { id, state, reason, resumeAt, agent, session }, result: task.result, questions }
}

const reasonOf = (reason: Reason, { isDetailed }: { isDetailed: boolean }) =>
  ` (${oneLine(reason.kind)}${isDetailed && reason.detail ? `: ${oneLine(reason.detail, 300)}` : ''})`

function stateAfter(event: Event): string | undefined {
  if (event.type === 'task.requeued') return 'queued'
  if (event.type === 'run.admitted') return 'starting'
  if (event.type === 'run.started') return 'running'
  if (event.type === 'task.cancel_requested') return 'stopping'
  return event.type.startsWith('task.') ? formatState(event.type.slice('task.'.length)) : undefined
}
