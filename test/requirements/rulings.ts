import type { Requirement } from './requirement.ts'

/** C: where the five systems disagree, this is what holds. */
export const rulings = {
  'C-1': { means: 'A conversation belongs to a session in the database; who shares one is a rule for choosing it.', open: 3 },
  'C-2': {
    means: 'Stale session: gate by exact id, then one more run restored, rebuilt or fresh; store the id that comes back.',
    open: 3,
  },
  'C-3': { means: 'Memories: each turn without sessions; with them, on a new or rebuilt conversation.', open: 'later: teams' },
  'C-4': { means: 'A profile is always resolved; working without rules or walls is named, explicit and shown.', open: 4 },
  'C-5': { means: 'Text and outcome are apart: text is always kept, a bad exit fails unless declared tolerable.', open: 7 },
  'C-6': { means: 'Total and silence limits are always set; only an explicit 0 lifts one.', open: 3 },
  'C-7': { means: 'One table decides on retries: three tries, 5 s doubling, jitter, Retry-After, reset time.', open: 3 },
  'C-8': {
    means: 'A missing program fails preflight with the cure; other agents go on.',
    shown: [
      'test/e2e/run.test.ts > refuses %s in a sentence',
      'test/e2e/run.test.ts > doctor names an agent whose program is missing, with the cure, and ends with 1',
    ],
  },
  'C-9': {
    means: 'Cancel names a task or run, queued ones too: grace first, then the whole tree is killed.',
    shown: [
      'test/engine/run.test.ts > ends a cancelled task with grace, and everything it started',
      'test/engine/run.test.ts > cancels a queued task without ever running it',
      'test/engine/run.test.ts > is gone within two seconds when it is cancelled now, whatever it ignores',
    ],
  },
  'C-10': { means: 'Users see category, hint and reference; operators the redacted detail.', open: 4 },
  'C-11': { means: 'One question entity behind every entrance: tool, file, permission request, protocol.', open: 5 },
  'C-12': {
    means: 'Prompts go by stdin or file; by argv only where declared, after an end-of-options mark, size-checked.',
    open: 7,
  },
  'C-13': {
    means: 'Output is decoded as UTF-8 piece by piece, bad bytes replaced.',
    shown: [
      'src/process/lines.test.ts > a character split between chunks stays whole',
      'src/process/lines.test.ts > bytes that are not UTF-8 become replacement characters of their own line only',
    ],
  },
  'C-14': { means: 'One run per session and per workspace; limits for all, per agent and per user.', open: 4 },
  'C-15': {
    means: 'Events are only ever appended; raw streams are kept per run.',
    shown: ['test/engine/run.test.ts > leaves the events and raw logs of an earlier run as they were'],
  },
  'C-16': { means: "codex's commands are chosen by probe: JSON events where offered, `exec` and `exec resume`.", open: 3 },
  'C-17': {
    means: 'Task states and run outcomes are one table each, and every outcome leads to a state.',
    shown: [
      'test/engine/moves.test.ts > is the only way: the store refuses every move that is not in it',
      'test/engine/moves.test.ts > has exactly one state for every outcome of a run',
    ],
  },
  'C-18': { means: 'An empty answer is the outcome `empty`; it is tried again only if no tool ran.', open: 3 },
  'C-19': { means: 'Messages come in by an inbox and go out by an outbox, once per message id.', open: 'later: channels' },
  'C-20': { means: "Hard facts outrank the agent's header, which may lower the outcome and never raise it.", open: 5 },
  'C-21': { means: 'Our MCP server is called `pawl`.', open: 3 },
  'C-22': { means: 'codex and ollama are driven as the real programs are, not as first written down.', open: 7 },
  'C-23': { means: 'The start of the question is only the fallback for a better short memory.', open: 'later: teams' },
} as const satisfies Record<string, Requirement>
