import type { MoveName } from '../../src/domain/task.ts'
import type { Kind } from './scenario.ts'

/** How a cell gets to its failpoint: by playing tasks of these kinds, or in a way of its own. */
export type Reach =
  | {
      readonly tasks: readonly Kind[]
      /** A task passes it twice, and is in another state the second time: that is a cell of its own. */
      readonly second?: true
    }
  | { readonly way: 'first_start' | 'recovery' | 'shutdown' | 'beat' | 'wake' }

const by = (...tasks: Kind[]): Reach => ({ tasks })
const twiceBy = (...tasks: Kind[]): Reach => ({ tasks, second: true })

/** Every failpoint there is, and what reaches it. A test compares this list with the source: a new one without a line here is red. */
export const failpoints: Readonly<Record<string, Reach>> = {
  'schema.migrate.before': { way: 'first_start' },
  'schema.migrate.after': { way: 'first_start' },
  'task.create.before': by('plain', 'crash-once'),
  'task.create.after': by('plain', 'crash-once'),
  'task.admit.before': by('plain', 'hang'),
  'task.admit.after': by('plain', 'hang'),
  'claim.before': by('plain', 'crash-once'),
  'claim.after': by('plain', 'crash-once'),
  'killunit.record.before': by('plain', 'ask'),
  'killunit.record.after': by('plain', 'ask'),
  'spawn.before': by('plain', 'hang'),
  'spawn.after': by('plain', 'hang'),
  'event.batch.before': by('plain', 'crash-once'),
  'event.batch.after': by('plain', 'crash-once'),
  'exit.observe': by('plain', 'fail-once'),
  'outcome.record': by('plain', 'crash-once'),
  'run.settle.before': by('plain', 'ask', 'hang', 'crash-once', 'fail-once'),
  'run.settle.after': by('plain', 'ask', 'hang', 'crash-once', 'fail-once'),
  'question.ask.before': by('ask', 'plain'),
  'question.ask.after': by('ask', 'plain'),
  'question.answer.before': by('ask', 'plain'),
  'question.answer.after': by('ask', 'plain'),
  'task.cancel.before': by('hang', 'plain'),
  'task.cancel.after': by('hang', 'plain'),
  'task.retry.before': by('fail-once', 'plain'),
  'task.retry.after': by('fail-once', 'plain'),
  'session.pass.before': by('plain', 'restore'),
  'session.pass.after': by('plain', 'restore'),
  'session.archive.before': twiceBy('restore', 'plain'),
  'session.archive.after': twiceBy('restore', 'plain'),
  'task.wake.before': { way: 'wake' },
  'task.wake.after': { way: 'wake' },
  'heartbeat.before': { way: 'beat' },
  'heartbeat.after': { way: 'beat' },
  'worker.bury': { way: 'recovery' },
  'shutdown.drain': { way: 'shutdown' },
}

/** Points where several moves are made: there each kind of task is a cell of its own, because each makes another move. */
export const splitByKind: ReadonlySet<string> = new Set(['run.settle.before', 'run.settle.after'])

/** The transaction in which each move is made, or why no engine makes it yet. */
export const transactionOf: Readonly<Record<MoveName, string | { readonly unused: string }>> = {
  enqueue: { unused: 'a task is inserted as queued' },
  admit: 'task.admit',
  complete: 'run.settle',
  hold_for_review: { unused: 'tasks cannot ask for a review yet' },
  fail: 'run.settle',
  time_out: 'run.settle',
  stop_over_budget: 'run.settle',
  stop_cancelled: 'run.settle',
  block: 'run.settle',
  park: 'run.settle',
  give_back: 'run.settle',
  wake: 'task.wake',
  answer: 'question.answer',
  accept: { unused: 'tasks cannot ask for a review yet' },
  reject: { unused: 'tasks cannot ask for a review yet' },
  continue_parent: { unused: 'tasks have no subtasks yet' },
  review_parent: { unused: 'tasks have no subtasks yet' },
  fail_waiting: { unused: 'tasks depend on nothing yet' },
  cancel_waiting: 'task.cancel',
  retry: 'task.retry',
}
