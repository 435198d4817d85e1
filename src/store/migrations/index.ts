import spine from './0001-spine.ts'
import sessions from './0002-sessions.ts'
import profiles from './0003-profiles.ts'
import entrance from './0004-entrance.ts'
import secrets from './0005-secrets.ts'
import taskLife from './0006-task-life.ts'
import limits from './0007-limits.ts'
import questions from './0008-questions.ts'
import checks from './0009-checks.ts'
import money from './0010-money.ts'
import schedules from './0011-schedules.ts'
import outbox from './0012-outbox.ts'
import subtasks from './0013-subtasks.ts'
import noticed from './0014-noticed.ts'
import reservations from './0015-reservations.ts'
import recordings from './0016-recordings.ts'
import modelFigures from './0017-model-figures.ts'
import feed from './0018-feed.ts'
import changes from './0019-changes.ts'
import push from './0020-push.ts'
import board from './0021-board.ts'
import files from './0024-files.ts'
import keysOfTasks from './0025-keys-of-tasks.ts'
import listeners from './0026-listeners.ts'
import mcpHealth from './0029-mcp-health.ts'
import sessionChoices from './0030-session-choices.ts'
import suspects from './0031-suspects.ts'
import history from './0032-history.ts'

/** Forward only, in order; a number is never reused and an applied text never changes. */
export const migrations: readonly { readonly id: number; readonly name: string; readonly sql: string }[] = [
  { id: 1, name: 'spine', sql: spine },
  { id: 2, name: 'sessions', sql: sessions },
  { id: 3, name: 'profiles', sql: profiles },
  { id: 4, name: 'entrance', sql: entrance },
  { id: 5, name: 'secrets', sql: secrets },
  { id: 6, name: 'task-life', sql: taskLife },
  { id: 7, name: 'limits', sql: limits },
  { id: 8, name: 'questions', sql: questions },
  { id: 9, name: 'checks', sql: checks },
  { id: 10, name: 'money', sql: money },
  { id: 11, name: 'schedules', sql: schedules },
  { id: 12, name: 'outbox', sql: outbox },
  { id: 13, name: 'subtasks', sql: subtasks },
  { id: 14, name: 'noticed', sql: noticed },
  { id: 15, name: 'reservations', sql: reservations },
  { id: 16, name: 'recordings', sql: recordings },
  { id: 17, name: 'model-figures', sql: modelFigures },
  { id: 18, name: 'feed', sql: feed },
  { id: 19, name: 'changes', sql: changes },
  { id: 20, name: 'push', sql: push },
  { id: 21, name: 'board', sql: board },
  { id: 24, name: 'files', sql: files },
  { id: 25, name: 'keys-of-tasks', sql: keysOfTasks },
  { id: 26, name: 'listeners', sql: listeners },
  { id: 29, name: 'mcp-health', sql: mcpHealth },
  { id: 30, name: 'session-choices', sql: sessionChoices },
  { id: 31, name: 'suspects', sql: suspects },
  { id: 32, name: 'history', sql: history },
]
