import type { Requirement } from './requirement.ts'

/** S1 and W1: long conversations with Claude Code, turn after turn. */
export const sdkExecutor = {
  // Turns and prompts
  'S1-1': { means: 'A second turn costs no program start, and skills, plugins and project memory keep working.', open: 3 },
  'S1-2': { means: 'Tasks on one session run one after another; the others wait in order.', open: 3 },
  'S1-3': { means: 'The reply leaves after the session is free, and replies keep their order.', open: 3 },
  'S1-4': { means: 'The known limits hold: three tries, 5 s doubling, 4096 characters of stderr, fixed sentences.', open: 3 },
  'S1-5': {
    means: 'Words such as "rate" or "limit" anywhere in an error make it worth a retry.',
    notOurs: 'C-7: one table of categories, found by fields first, decides; W1-1 shows what words do',
  },
  'S1-6': { means: "claude-code without settings: a default model, the task's workspace, our MCP server.", open: 3 },
  'S1-7': { means: 'System prompt and tool instructions are joined by a blank line; either may stand alone.', open: 3 },
  'S1-8': { means: 'Around the message come delegation results, and memories outermost.', open: 'later: teams' },
  'S1-9': { means: 'An agent with sessions gets memories only when a conversation begins.', open: 'later: teams' },
  'S1-10': {
    means: 'The prompt is composed once per task; the command is built anew per run, so a reset counts at once.',
    open: 3,
  },
  'S1-11': { means: 'The answer is the result field, else the joined text; never both.', open: 3 },
  'S1-12': {
    means: "The program's session id is stored after the turn and used for the next; the adapter keeps no state.",
    open: 3,
  },

  // Errors
  'S1-13': { means: 'A crash makes the session suspect, and says so; a rate limit leaves it alone.', open: 3 },
  'S1-14': { means: 'An error is one log line: kind, message, exit code, stderr with the number of cut characters.', open: 3 },
  'S1-15': { means: 'Only if the cause is hidden is the program probed, for at most 30 s, and the finding added.', open: 3 },
  'S1-16': { means: 'A probe that succeeds, says nothing, says too much or fails never harms the error itself.', open: 3 },
  'S1-17': { means: 'Tries left and a passing error: retry. Otherwise the full line is logged and a safe one shown.', open: 3 },
  'S1-18': { means: 'Whatever happens, the current action is cleared and the memory kept.', open: 'later: teams' },
  'S1-19': { means: 'An empty final text is the outcome `empty` with its fixed sentence.', open: 3 },
  'S1-20': { means: '"Stop whatever runs on this session" stops just that, and does nothing when nothing runs.', open: 3 },
  'S1-21': { means: 'One log line gives the real cause, for example a usage limit with its reset time.', open: 3 },

  // Defects
  'W1-1': { means: 'Words inside other words, and exit codes inside other numbers, decide nothing.', open: 3 },
  'W1-2': { means: 'A usage limit with a reset time parks the task until then.', open: 3 },
  'W1-3': {
    means: 'After tools have run, a retry resumes instead of repeating; a lost session gets its context again.',
    open: 3,
  },
  'W1-4': { means: 'A probe blocks nothing, spends no model call, and its finding counts.', open: 3 },
  'W1-5': { means: 'A silent program is ended; waiting tasks are counted and visible.', open: 3 },
  'W1-6': { means: 'Cancel works while running, waiting to retry and queued, and ends as `cancelled`.', open: 3 },
  'W1-7': { means: 'Cancel hits the run it names and never the next one.', open: 3 },
  'W1-8': { means: 'A result with an error flag, or a stop at the turn limit, is not an answer.', open: 3 },
  'W1-9': { means: 'An empty result field does not hide text that was said.', open: 3 },
  'W1-10': { means: 'On error the text so far is kept; cost, tokens and turns are recorded.', open: 3 },
  'W1-11': { means: 'Each counterpart has a session of its own, and it outlives a restart.', open: 'later: channels' },
  'W1-12': { means: 'No resume without the check that the session file is there.', open: 3 },
  'W1-13': {
    means: 'Stderr is redacted before it is logged.',
    shown: [
      'test/e2e/redaction.test.ts > leaves none of them in events, answers, logs, raw output or argument lists: %s',
      'src/log.test.ts > no part of a line says a secret: %s',
    ],
  },
  'W1-14': { means: 'No agent gets every tool without rules; its profile decides.', open: 4 },
  'W1-15': { means: 'The session id that came back is the one stored, also when it is a new one.', open: 3 },
} as const satisfies Record<string, Requirement>
