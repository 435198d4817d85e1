import type { MoveName } from '../../src/domain/task/task.ts'
import type { Kind } from './scenario.ts'

/** How a cell gets to its failpoint: by playing tasks of these kinds, or in a way of its own. */
export type Reach =
  | {
      readonly tasks: readonly Kind[]
      /** A task passes it twice, and is in another state the second time: that is a cell of its own. */
      readonly second?: true
    }
  | {
      readonly way:
        | 'first_start'
        | 'outbox'
        | 'recovery'
        | 'shutdown'
        | 'beat'
        | 'wake'
        | 'schedule'
        | 'put_off'
        | 'wake_now'
        | 'clear_limit'
        | 'delete'
        | 'edit'
        | 'deadline'
        | 'escalation'
        | 'grant'
        | 'recheck'
        | 'files'
        | 'listener'
    }

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
  'event.batch.before': by('plain', 'crash-once', 'spend', 'model'),
  'event.batch.after': by('plain', 'crash-once', 'spend', 'model'),
  'money.reserve.before': by('model', 'plain'),
  'money.reserve.after': by('model', 'plain'),
  'money.reserved': twiceBy('model', 'plain'),
  'money.settle': by('model', 'plain'),
  'exit.observe': by('plain', 'fail-once'),
  'check.run': by('checked', 'plain'),
  'check.ran': by('checked', 'plain'),
  'task.recheck.before': { way: 'recheck' },
  'task.recheck.after': { way: 'recheck' },
  'entry.put': twiceBy('copied', 'plain'),
  'copy.discard': by('copied', 'plain'),
  'outcome.record': by('plain', 'crash-once'),
  'run.settle.before': by(
    'plain',
    'ask',
    'hang',
    'crash-once',
    'fail-once',
    'review',
    'split',
    'split-review',
    'failover',
    'needed',
    'needed-fails',
    'spend',
    'model',
  ),
  'run.settle.after': by(
    'plain',
    'ask',
    'hang',
    'crash-once',
    'fail-once',
    'review',
    'split',
    'split-review',
    'failover',
    'needed',
    'needed-fails',
    'spend',
    'model',
  ),
  'question.ask.before': by('ask', 'plain'),
  'question.ask.after': by('ask', 'plain'),
  'question.answer.before': by('ask', 'plain'),
  'question.answer.after': by('ask', 'plain'),
  'question.deadline.before': { way: 'deadline' },
  'question.deadline.after': { way: 'deadline' },
  'question.escalate.before': { way: 'escalation' },
  'question.escalate.after': { way: 'escalation' },
  'grant.use.before': { way: 'grant' },
  'grant.use.after': { way: 'grant' },
  'task.cancel.before': by('hang', 'plain'),
  'task.cancel.after': by('hang', 'plain'),
  'task.retry.before': by('fail-once', 'plain'),
  'task.retry.after': by('fail-once', 'plain'),
  'task.edit.before': { way: 'edit' },
  'task.edit.after': { way: 'edit' },
  'task.delete.before': { way: 'delete' },
  'task.delete.after': { way: 'delete' },
  'task.accept.before': by('review', 'plain'),
  'task.accept.after': by('review', 'plain'),
  'task.reject.before': by('reject', 'plain'),
  'task.reject.after': by('reject', 'plain'),
  'subtask.create.before': by('split', 'plain'),
  'subtask.create.after': by('split', 'plain'),
  'session.pass.before': by('plain', 'restore'),
  'session.pass.after': by('plain', 'restore'),
  'session.archive.before': twiceBy('restore', 'plain'),
  'session.archive.after': twiceBy('restore', 'plain'),
  'task.wake.before': { way: 'wake' },
  'task.wake.after': { way: 'wake' },
  'task.put_off.before': { way: 'put_off' },
  'task.put_off.after': { way: 'put_off' },
  'task.wake_now.before': { way: 'wake_now' },
  'task.wake_now.after': { way: 'wake_now' },
  'limits.clear.before': { way: 'clear_limit' },
  'limits.clear.after': { way: 'clear_limit' },
  'schedule.write.before': { way: 'schedule' },
  'schedule.write.after': { way: 'schedule' },
  'schedule.fire.before': { way: 'schedule' },
  'schedule.fire.after': { way: 'schedule' },
  'schedule.mark.before': { way: 'schedule' },
  'schedule.mark.after': { way: 'schedule' },
  'outbox.send': { way: 'outbox' },
  'outbox.settle.before': { way: 'outbox' },
  'outbox.settle.after': { way: 'outbox' },
  'outbox.retry.before': { way: 'outbox' },
  'outbox.retry.after': { way: 'outbox' },
  'listener.set.before': { way: 'listener' },
  'listener.set.after': { way: 'listener' },
  'listener.remove.before': { way: 'listener' },
  'listener.remove.after': { way: 'listener' },
  'listener.send': { way: 'listener' },
  'listener.sent': { way: 'listener' },
  'upload.add.before': { way: 'files' },
  'upload.add.after': { way: 'files' },
  'artifact.add.before': { way: 'files' },
  'artifact.add.after': { way: 'files' },
  'files.sweep.before': { way: 'files' },
  'files.sweep.after': { way: 'files' },
  'heartbeat.before': { way: 'beat' },
  'heartbeat.after': { way: 'beat' },
  'worker.bury': { way: 'recovery' },
  'shutdown.drain': { way: 'shutdown' },
}

/** Those of commands that need no daemon, which the matrix has nobody to kill for: test/e2e/backup.test.ts and test/upgrade/export.test.ts end the command itself at each of them. */
export const commandFailpoints: readonly string[] = [
  'backup.begun',
  'backup.part',
  'backup.written',
  'backup.renamed',
  'restore.marked',
  'restore.copied',
  'restore.commit.before',
  'restore.commit.after',
  'import.row.before',
  'import.row.after',
  'import.task.before',
  'import.task.after',
]

/** Those that matter where somebody else has been asked already: test/a2a-remote/pawl-to-pawl.test.ts ends the daemon at each of them, and looks there. */
export const remoteFailpoints: readonly string[] = ['session.learn.before', 'session.learn.after']

/** Those of what comes back from an agent's own git directory: src/engine/workspace/private-git/private-git.test.ts cuts it off at each of them. */
export const gitFailpoints: readonly string[] = ['git.objects', 'git.refs', 'git.index', 'git.head', 'git.trees']

/** Points where several moves are made: there each kind of task is a cell of its own, because each makes another move. */
export const splitByKind: ReadonlySet<string> = new Set(['run.settle.before', 'run.settle.after'])

/** How often such a point is passed before the one that is meant: a task with two subtasks waits for them after its own run, and goes on after the last of theirs. */
export const skipsOf: Readonly<Partial<Record<Kind, readonly number[]>>> = { split: [0, 2], 'split-review': [2] }

/** The transaction in which each move is made, or why no engine makes it yet. */
export const transactionOf: Readonly<Record<MoveName, string | { readonly unused: string }>> = {
  enqueue: 'run.settle',
  hold_back: 'run.settle',
  let_go: 'run.settle',
  admit: 'task.admit',
  complete: 'run.settle',
  hold_for_review: 'run.settle',
  fail: 'run.settle',
  time_out: 'run.settle',
  stop_over_budget: 'run.settle',
  stop_cancelled: 'run.settle',
  block: 'run.settle',
  park: 'run.settle',
  give_back: 'run.settle',
  wake: 'task.wake',
  put_off: 'task.put_off',
  answer: 'question.answer',
  accept: 'task.accept',
  reject: 'task.reject',
  continue_parent: 'run.settle',
  review_parent: 'run.settle',
  fail_waiting: 'run.settle',
  cancel_waiting: 'task.cancel',
  retry: 'task.retry',
}
