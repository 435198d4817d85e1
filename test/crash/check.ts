import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Event } from '../../src/domain/event/event.ts'
import { isEnded } from '../../src/domain/task/task.ts'
import type { TaskView } from '../../src/domain/view/view.ts'
import { wrongWithChanges } from './changes.ts'
import { checkConversation, checkKeys } from './check-sessions.ts'
import { type CrashHome, pause } from './home.ts'
import { wrongWithLeft } from './left.ts'
import { wrongWithBill } from './model-bill.ts'
import { wrongWithMoney } from './money.ts'
import { wrongWithProof } from './proof.ts'
import { wrongWithParts } from './review.ts'
import { type Acknowledged, marksOf, readIfThere } from './scenario.ts'

/**
 * Looks from outside, after everything has come to rest, and answers with what is wrong. It knows what clients were told and nothing of how Pawl works
 * inside, but for C10 and C11, which open the store.
 */
export async function findViolations(home: CrashHome, told: readonly Acknowledged[], tag: string): Promise<string[]> {
  const wrong: string[] = []
  const seen = await Promise.all(told.map((task) => look(home, task)))
  for (const { acknowledged, task, events, repeated } of seen) {
    const say = (text: string) => wrong.push(`${text} [${acknowledged.kind} ${acknowledged.id}]`)
    checkKept(acknowledged, task, repeated, say)
    checkNumbers(events, say)
    for (const sentence of wrongWithParts(task, { kind: acknowledged.kind, tag })) say(sentence)
    checkHistory(events, task, acknowledged, say)
    checkAlone(task, say)
    checkOurDeaths(events, say)
    for (const sentence of wrongWithMoney(task, events)) say(sentence)
    if (acknowledged.kind === 'model') for (const sentence of await wrongWithBill(home, task, events)) say(sentence)
    for (const sentence of await wrongWithProof(home, acknowledged)) say(sentence)
    for (const sentence of await wrongWithChanges(home, task)) say(sentence)
    await checkConversation(home, { acknowledged, task, events }, say)
  }
  wrong.push(...checkKeys(home))
  wrong.push(
    ...wrongWithLeft(
      home,
      seen.map(({ task }) => task),
    ),
  )
  const { items } = await home.ask((client) => client.listTasks({ tag }))
  if (items.length !== told.length) wrong.push(`C1: ${told.length} tasks were confirmed, the list has ${items.length}`)
  wrong.push(...(await checkProcesses(seen.flatMap(({ task }) => task.runs.map((run) => run.id)))))
  wrong.push(
    ...(await checkStore(
      home,
      told.map((task) => task.id),
    )),
  )
  return wrong
}

type Say = (text: string) => void

interface Seen {
  readonly acknowledged: Acknowledged
  readonly task: TaskView
  readonly repeated: { readonly task: TaskView; readonly created: boolean }
  readonly events: Event[]
}

async function look(home: CrashHome, acknowledged: Acknowledged): Promise<Seen> {
  const task = await home.ask((client) => client.getTask(acknowledged.id))
  const repeated = await home.ask((client) => client.createTask(acknowledged.body, { idempotencyKey: acknowledged.key }))
  return { acknowledged, task, repeated, events: await eventsOf(home, acknowledged.id) }
}

export async function eventsOf(home: CrashHome, id: string): Promise<Event[]> {
  return (await home.ask((client) => client.readEvents(id, { limit: 1_000 }))).items
}

/** C1: what was confirmed is there, to the byte, and its key still names it. */
function checkKept(acknowledged: Acknowledged, task: TaskView, repeated: Seen['repeated'], say: Say): void {
  if (task.prompt !== acknowledged.body.prompt) say('C1: the prompt differs from what was confirmed')
  if (repeated.created || repeated.task.id !== acknowledged.id) say(`C1: the same key gave ${repeated.task.id}`)
  for (const { questionId, answer } of acknowledged.answers) {
    const question = task.questions.find(({ id }) => id === questionId)
    if (question?.state !== 'answered' || question.answer !== answer)
      say(`C1: the confirmed answer to ${questionId} is ${JSON.stringify(question)}`)
  }
  const last = acknowledged.answers.at(-1)
  if (last && !task.result?.text.includes(last.answer))
    say(`C1: the agent did not hear the answer; it said ${JSON.stringify(task.result?.text)}`)
  const heard = readIfThere(join(task.workspace, 'prompt.txt'))
  if (heard !== '' && !heard.startsWith(acknowledged.body.prompt)) say('C1: the agent heard another prompt')
  if (!acknowledged.ends.includes(task.state))
    say(`C3: it ended ${task.state} (${JSON.stringify(task.reason)}), expected ${acknowledged.ends.join(' or ')}`)
}

/** C2: numbers without a gap from 1. */
function checkNumbers(events: readonly Event[], say: Say): void {
  events.forEach((event, index) => {
    if (event.seq !== index + 1) say(`C2: event ${index + 1} has number ${event.seq}`)
  })
}

const restingPlace: Partial<Record<Event['type'], TaskView['state']>> = {
  'task.completed': 'completed',
  'task.review': 'review',
  'task.failed': 'failed',
  'task.timed_out': 'timed_out',
  'task.cancelled': 'cancelled',
  'task.over_budget': 'over_budget',
  'task.blocked': 'blocked',
  'task.parked': 'parked',
}

/** C3, C5, C8: the history is one a task can have: one run at a time, each ended once, nothing said by a run that is over, every further run with its reason. */
function checkHistory(events: readonly Event[], task: TaskView, acknowledged: Acknowledged, say: Say): void {
  let state: TaskView['state'] = 'created'
  let open: string | undefined
  let admitted = 0
  for (const event of events) {
    const at = `event ${event.seq} ${event.type}`
    const isOfRun = event.run !== undefined && event.type !== 'run.admitted'
    if (isOfRun && event.run !== open) say(`C5: ${at} is of ${event.run}, while ${open ?? 'no run'} was open`)
    const rest = restingPlace[event.type]
    if (event.type === 'task.queued') state = 'queued'
    else if (event.type === 'run.admitted') {
      if (state !== 'queued') say(`C8: ${at} came while the task was ${state}: no reason for another run`)
      if (open) say(`C4: ${at} while ${open} was open`)
      admitted++
      state = 'running'
      open = event.run
    } else if (event.type === 'run.ended') open = undefined
    else if (event.type === 'task.requeued') {
      if (open) say(`C3: ${at} while ${open} was open`)
      state = 'queued'
    } else if (rest) {
      if (open) say(`C3: ${at} while ${open} was open`)
      // One that waits for a time may be told to wait for a later one.
      if (state === rest && rest !== 'parked') say(`C3: ${at} came twice`)
      state = rest
    }
  }
  if (state !== task.state) say(`C3: the events say ${state}, the task says ${task.state}`)
  const ended = events.filter((event) => event.type === 'run.ended')
  if (admitted !== task.runs.length || ended.length !== task.runs.length)
    say(`C3: ${task.runs.length} runs, ${admitted} admitted, ${ended.length} ended`)
  for (const run of task.runs) if (run.state !== 'ended') say(`C3: run ${run.id} is ${run.state}`)
  if (acknowledged.kind === 'crash-once' && task.runs.length < 2) say('C8: a crash was not followed by another run')
}

/** C4: what the agents wrote themselves: each began after the one before had let go. */
function checkAlone(task: TaskView, say: Say): void {
  const marks = marksOf(task)
  for (const mark of marks) if (mark.what === 'overlap') say(`C4: ${mark.run} began while another run of the task lived`)
  const known = new Set(task.runs.map((run) => run.id))
  for (const mark of marks) if (!known.has(mark.run)) say(`C4: an agent worked under ${mark.run}, which is no run of the task`)
  marks.forEach((mark, index) => {
    const before = marks[index - 1]
    if (before && before.at > mark.at) say(`C4: marks are out of order: ${JSON.stringify(before)} ${JSON.stringify(mark)}`)
    if (mark.what === 'end' && before?.run !== mark.run) say(`C4: ${mark.run} ended after ${before?.run} had begun`)
  })
}

/** C14: nothing fails because Pawl died, and a person is asked about it only after three losses: one that made the task a suspect, and two while it was alone. */
function checkOurDeaths(events: readonly Event[], say: Say): void {
  let losses = 0
  let last = ''
  for (const event of events) {
    if (event.type === 'run.ended') {
      last = event.data.outcome
      if (last === 'lost') losses++
      else if (last !== 'interrupted') losses = 0
    }
    if (event.type === 'task.failed' && (last === 'lost' || last === 'interrupted'))
      say(`C14: event ${event.seq}: it failed because a run was ${last}: ${event.data.message}`)
    if (event.type === 'task.blocked' && event.data.kind === 'worker_lost' && losses < 3)
      say(`C14: event ${event.seq}: a person was asked after ${losses} losses`)
    if (event.type === 'task.blocked' && event.data.kind === 'interrupted')
      say(`C14: event ${event.seq}: a person was asked about a task that may be run as often as it takes`)
  }
}

const goneWithinMs = 2_000

/** C7: nothing of a run that is over lives. */
async function checkProcesses(runs: readonly string[]): Promise<string[]> {
  const deadline = performance.now() + goneWithinMs
  for (;;) {
    const alive = processesOf(runs)
    if (alive.length === 0) return []
    if (performance.now() > deadline) return alive.map(({ pid, run }) => `C7: process ${pid} of ${run} lives`)
    await pause(20)
  }
}

export function processesOf(runs: readonly string[]): { pid: number; run: string }[] {
  const entries = new Map(runs.map((run) => [`PAWL_RUN_ID=${run}`, run]))
  const found: { pid: number; run: string }[] = []
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const run = environOf(name).find((entry) => entries.has(entry))
    if (run) found.push({ pid: Number(name), run: entries.get(run)! })
  }
  return found
}

function environOf(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0')
  } catch (error) {
    if (['ENOENT', 'ESRCH', 'EACCES', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) return []
    throw error
  }
}

/** C10: the store opens, its tables can be read, and its counters agree with what they count. */
async function checkStore(home: CrashHome, tasks: readonly string[]): Promise<string[]> {
  const list = ['', ...tasks].map((id) => `'${id}'`).join(', ')
  const tables = await home.query<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname in ('pawl', 'pgboss')`,
  )
  await home.query(`select ${tables.map(({ name }) => `(select count(*) from ${name})`).join(' + ')}`)
  const wrong = await home.query<{ what: string }>(`
    select format('C10: the journal of %s says %s, its last event is %s', h.task_id, h.seq, max(e.seq)) as what
      from pawl.journal_heads h left join pawl.events e on e.task_id = h.task_id group by h.task_id, h.seq having h.seq is distinct from max(e.seq)
    union all select format('C10: a lease of %s is left', run_id) from pawl.leases where task_id in (${list})
    union all select format('C10: %s still holds %s dollars', run_id, usd) from pawl.reservations where task_id in (${list})
    union all select format('C10: run %s is %s', id, state) from pawl.runs where task_id in (${list}) and state <> 'ended'
    union all select format('C10: question %s of an ended task is pending', q.id) from pawl.questions q join pawl.tasks t on t.id = q.task_id
      where q.state = 'pending' and t.state in ('completed', 'failed', 'cancelled') and t.id in (${list})
    union all select format('C10: a job for %s is left', j.data ->> 'run') from pgboss.job j join pawl.runs r on r.id = j.data ->> 'run'
      where r.task_id in (${list}) and j.state < 'completed'
  `)
  return wrong.map((row) => row.what)
}

/** Everything of the tasks at rest that another recovery could change, by their ids. */
export async function tasksAtRest(home: CrashHome): Promise<Map<string, string>> {
  const ended = (await tasksOf(home)).filter(({ state }) => isEnded(state))
  return new Map(ended.map((task) => [task.id, JSON.stringify(task)]))
}

/** What has become different of tasks that were at rest; that some were deleted is nothing. */
export async function changedSince(home: CrashHome, before: ReadonlyMap<string, string>): Promise<string[]> {
  return (await tasksOf(home)).flatMap((task) => {
    const was = before.get(task.id)
    const is = JSON.stringify(task)
    return was === undefined || is === was ? [] : [`another recovery changed a task at rest:\n${was}\n${is}`]
  })
}

const tasksOf = (home: CrashHome) =>
  home.query<{ id: string; state: TaskView['state'] }>(`
    select t.id, t.state, t.fence, t.attempts, t.updated_at, (select count(*) from pawl.events e where e.task_id = t.id) as events,
      (select count(*) from pawl.runs r where r.task_id = t.id) as runs
    from pawl.tasks t`)
