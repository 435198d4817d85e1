import type { Requirement } from './requirement.ts'

/** S4 and W4: a queue of tasks with logs, cost, questions and subtasks. */
export const taskRunner = {
  // Starting
  'S4-1': { means: "The path of an agent's program is configurable; `claude` is found without.", open: 3 },
  'S4-2': {
    means: 'A workspace that does not exist is refused by name before anything else happens.',
    shown: ['test/engine/run.test.ts > refuses a workspace that does not exist by name and creates nothing'],
  },
  'S4-3': {
    means: 'Each run has its own folder, 0700, for raw stdout and stderr, known before the start.',
    shown: ['test/engine/run.test.ts > keeps its raw output in a folder of its own that only its owner may read'],
  },
  'S4-4': { means: 'A session id is assigned before the start where the program allows it.', open: 3 },
  'S4-5': { means: "The agent learns the API's address, its task and its question file, under the old names as well.", open: 5 },
  'S4-6': {
    means: 'Cancel ends the whole tree of a run.',
    shown: ['test/engine/run.test.ts > ends a cancelled task with grace, and everything it started'],
  },
  'S4-7': {
    means: 'Output is stored and read at the same time, and drained before the run is judged.',
    shown: ['test/contracts/sandbox.ts > what was written before the exit arrives whole, however slowly it is read'],
  },
  'S4-8': { means: 'Cost and exit code are recorded on failure too.', open: 3 },
  'S4-9': { means: 'A retry waits 5 s, then doubles, says so, and stops at once when cancelled.', open: 3 },
  'S4-10': { means: 'A question file left at the end blocks the task with that question and its session.', open: 5 },

  // Command lines and streams of claude-code
  'S4-11': { means: 'Resume: the answer is the prompt, with the session id, profile and model.', open: 3 },
  'S4-12': {
    means: 'New conversation: id, model, budget, tools, directories, system prompt in a fixed order, extra args last.',
    open: 3,
  },
  'S4-13': { means: 'A planning preamble comes first unless the task skips it.', open: 5 },
  'S4-14': { means: 'An error flag fails the run even on exit 0; lines that are not JSON are kept and passed over.', open: 3 },
  'S4-15': {
    means: 'A line of any length is read.',
    shown: [
      'src/agents/custom/agent.test.ts > a jsonl line of 5 MB is read whole',
      'src/process/lines.test.ts > a line of 50 MB takes at most 64 MB more than itself',
    ],
  },
  'S4-16': { means: 'A task can set model, budget, rules, tools, context, system prompt, extra args, planning.', open: 5 },

  // Defects
  'W4-1': { means: 'A retry never reuses an id that the program will call taken.', open: 3 },
  'W4-2': {
    means: 'Each run has its own logs and its own cost.',
    shown: ['test/engine/run.test.ts > leaves the events and raw logs of an earlier run as they were'],
  },
  'W4-3': {
    means: 'A huge line neither stops reading nor loses the result.',
    shown: [
      'test/contracts/adapter.ts > survives a line of 5 MB and still gives the answer',
      'src/process/lines.test.ts > a line over the cap is cut, its rest is counted, and the next line is whole',
    ],
  },
  'W4-4': { means: 'A question is stored before its file goes, checked, read on every exit, cleared before a run.', open: 5 },
  'W4-5': { means: 'A resumed run has every limit and rule of the first.', open: 5 },
  'W4-6': { means: 'After a second question the session is still the right one.', open: 5 },
  'W4-7': {
    means: 'After a normal end no child is left; a held stdout hangs nothing; kills have grace and no pid mix-up.',
    shown: [
      'test/engine/run.test.ts > does not wait for a grandchild that keeps its output open',
      'test/contracts/sandbox.ts > a unit is ended by its whole mark, never by a part of it',
      'test/contracts/sandbox.ts > a stop with grace lets the agent tidy up',
    ],
  },
  'W4-8': { means: 'The failure text of stream and stderr counts, whatever the exit code.', open: 3 },
  'W4-9': { means: 'Denials are known by structure, and an agent that recovers is not failed for one.', open: 3 },
  'W4-10': { means: "claude's prompt is not in argv.", open: 3 },
  'W4-11': { means: 'Subtasks are limited in number, depth and budget, and a forbidden tool stays forbidden.', open: 5 },
  'W4-12': {
    means: 'Total and silence limits hold, the environment is fresh, logs are capped and redacted.',
    shown: [
      'test/engine/time.test.ts > a run that exceeds its time is stopped and keeps what it said',
      'test/engine/time.test.ts > an agent that falls silent is stopped, however many bytes it drips',
      'test/engine/run.test.ts > gets nothing of our environment but what its agent is given',
      'src/engine/raw-log.test.ts > a flood is cut at the cap with a mark, told once, and does not fill our memory',
      'src/engine/raw-log.test.ts > a secret is not in the files, however it arrives, and whoever reads the program hears it as it was',
      'test/e2e/redaction.test.ts > leaves none of them in events, answers, logs, raw output or argument lists: %s',
    ],
  },
  'W4-13': { means: 'A spent budget is an outcome of its own.', open: 5 },
} as const satisfies Record<string, Requirement>
