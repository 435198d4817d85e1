import type { Requirement } from './requirement.ts'

/** S1 and W1: long conversations with Claude Code, turn after turn. */
export const sdkExecutor = {
  // Turns and prompts
  'S1-1': {
    means: 'A second turn costs no program start, and skills, plugins and project memory keep working.',
    open: 22,
  },
  'S1-2': {
    means: 'Tasks on one session run one after another; the others wait in order.',
    shown: [
      'test/engine/run.test.ts > never overlaps with another of its session, and does with one of another',
      'test/engine/waiting-turns.test.ts > tasks that wait for their session are counted, and run in the order in which they came',
    ],
  },
  'S1-3': {
    means: 'The reply leaves after the session is free, and replies keep their order.',
    shown: [
      'test/engine/waiting-turns.test.ts > an answer is told when its session is free',
      'test/engine/waiting-turns.test.ts > tasks that wait for their session are counted, and run in the order in which they came',
    ],
  },
  'S1-4': {
    means: 'The known limits hold: three tries, 5 s doubling, 4096 characters of stderr; the fixed sentences come with messages.',
    open: 22,
  },
  'S1-5': {
    means: 'Words such as "rate" or "limit" anywhere in an error make it worth a retry.',
    notOurs: 'C-7: one table of categories, found by fields first, decides; W1-1 shows what words do',
  },
  'S1-6': {
    means: "claude-code without settings: its own default model, the task's workspace, our MCP server.",
    shown: [
      'src/agents/claude-code/command.test.ts > a bare run speaks the protocol, reads no settings that an agent could have written, and leaves retries to us',
      'test/engine/run.test.ts > works in the workspace of its task, and a retry finds there what the first run left',
      'test/contracts/real-program.ts > asks through our tool, is blocked, and hears the answer in its next run',
    ],
  },
  'S1-7': {
    means: 'System prompt and tool instructions are joined by a blank line; either may stand alone.',
    open: 26,
  },
  'S1-8': { means: 'Around the message come delegation results, and memories outermost.', open: 26 },
  'S1-9': { means: 'An agent with sessions gets memories only when a conversation begins.', open: 26 },
  'S1-10': {
    means: 'A task keeps its prompt; message and command are made anew per run, so a reset counts at once.',
    shown: [
      'test/engine/program-runs.test.ts > each run has a command of its own, so that a new conversation begins with the very run that asks for it',
    ],
  },
  'S1-11': {
    means: 'The answer is the result field, else the joined text; never both.',
    shown: [
      'src/agents/claude-code/verdict.test.ts > the result is the answer; what was said on the way stands in when it is empty',
      'src/agents/codex/conversation.test.ts > the final answer is the last message that is no comment',
    ],
  },
  'S1-12': {
    means: "The program's session id is stored after the turn and used for the next; the adapter keeps no state.",
    shown: [
      'test/engine/program-runs.test.ts > the id that came back is the one that is stored and gone on with',
      'test/contracts/real-program.ts > answers, and its session goes on in the next task',
      'test/real-agents/claude-code-adapter.test.ts > it answers under the id it was given, warm for the next turn, and can be resumed by another process',
      'test/real-agents/codex-adapter.test.ts > %s: it answers, tells what it used, and can be resumed by another process',
    ],
  },

  // Errors
  'S1-13': {
    means: 'A crash makes the session suspect, and says so; a rate limit leaves it alone.',
    shown: [
      'src/engine/run/start-agent.test.ts > %s',
      'test/engine/session-gate.test.ts > a file that the program refused is replaced by the archive, also where it lay elsewhere',
    ],
  },
  'S1-14': {
    means: 'An error is one log line: kind, message, exit code, stderr with the number of cut characters.',
    shown: [
      'test/engine/program-runs.test.ts > a failure is one log line: kind, message, exit code, and the end of what was said on standard error',
    ],
  },
  'S1-15': {
    means: 'Only if the cause is hidden is the program probed, for at most 30 s, and the finding added.',
    open: 22,
  },
  'S1-16': {
    means: 'A probe that succeeds, says nothing, says too much or fails never harms the error itself.',
    shown: [
      'src/engine/run/explain.test.ts > a probe that %s is one line in the log',
      'src/engine/run/explain.test.ts > a probe that breaks harms nothing',
    ],
  },
  'S1-17': {
    means: 'Tries left and a passing error: retry. Otherwise the full line is logged and a safe one shown.',
    shown: [
      'src/engine/base/retry.test.ts > waits 5 s after the first try and 10 s after the second, and then gives up',
      'src/engine/base/retry.test.ts > a first run that fails as %s leads to %s',
      'test/engine/run.test.ts > tells the user a plain sentence and the log the rest',
    ],
  },
  'S1-18': { means: 'Whatever happens, the current action is cleared and the memory kept.', open: 26 },
  'S1-19': {
    means: 'An empty final text is the outcome `empty` with its fixed sentence.',
    open: 22,
  },
  'S1-20': {
    means: '"Stop whatever runs on this session" stops just that, and does nothing when nothing runs.',
    shown: ['test/engine/session-verbs.test.ts > stopped, stops the task that runs and leaves those that wait'],
  },
  'S1-21': {
    means: 'One log line gives the real cause, for example a usage limit with its reset time.',
    shown: ['test/engine/program-runs.test.ts > one log line names the cause, with the time at which a limit ends'],
  },

  // Defects
  'W1-1': {
    means: 'Words inside other words, and exit codes inside other numbers, decide nothing.',
    shown: [
      'src/agents/claude-code/verdict.test.ts > %s',
      'src/agents/codex/verdict.test.ts > %s is understood as what it says at its beginning',
      'test/contracts/adapter.ts > reads exit code 139 as the walls report it: killed by a signal',
    ],
  },
  'W1-2': {
    means: 'A usage limit with a reset time parks the task until then.',
    shown: [
      'src/engine/base/retry.test.ts > parks at a usage limit until its reset without costing a try',
      'test/real-agents/limits.test.ts > parks the task until the plan is full again',
      'test/real-agents/limits.test.ts > wakes by itself at that time and goes on, which costs no attempt',
    ],
  },
  'W1-3': {
    means: 'After tools have run, a retry resumes instead of repeating; a lost session gets its context again.',
    shown: [
      'test/contracts/real-program.ts > goes on after its process was killed in the middle of a tool, and nothing of it is left',
      'test/real-agents/limits.test.ts > does not do again what it did before the limit',
      'src/engine/run/prompt.test.ts > is told that some of the work may be done, once tools have run',
      'test/contracts/real-program.ts > is told a conversation of which neither files nor archive are left',
    ],
  },
  'W1-4': {
    means: 'A probe blocks nothing, spends no model call, and its finding counts.',
    shown: [
      'test/engine/sick-program.test.ts > asking a program that hangs keeps nobody waiting',
      'test/engine/sick-program.test.ts > no second try is spent on a program that crashed and is found not to be well, and its agent is shown with what to do',
      'test/engine/board.test.ts > what asking the program showed after one failure counts at once, until a run succeeds',
      'test/contracts/adapter.ts > probes in good time and never throws',
    ],
  },
  'W1-5': {
    means: 'A silent program is ended; waiting tasks are counted and visible.',
    shown: [
      'test/contracts/real-program.ts > that says nothing is stopped after the silence that is allowed, tried again in its conversation, and reported',
      'test/engine/long-work.test.ts > a stalled program is tried again in its conversation, and reported with what was seen last',
      'test/engine/run.test.ts > that waits says what for',
      'test/engine/waiting-turns.test.ts > tasks that wait for their session are counted, and run in the order in which they came',
    ],
  },
  'W1-6': {
    means: 'Cancel works while running, waiting to retry and queued, and ends as `cancelled`.',
    shown: [
      'test/contracts/real-program.ts > is cancelled in the middle of a tool, keeps what it said, and leaves nothing',
      'test/engine/waiting-turns.test.ts > a run that is to be tried again waits 5 s, says so, and a cancel ends the waiting at once',
      'test/engine/run.test.ts > cancels a queued task without ever running it',
    ],
  },
  'W1-7': {
    means: 'Cancel hits the run it names and never the next one.',
    shown: [
      'test/engine/waiting-turns.test.ts > a cancel that comes too late does not hit the next task of the session',
      'test/engine/session-verbs.test.ts > stopped, stops the task that runs and leaves those that wait',
    ],
  },
  'W1-8': {
    means: 'A result with an error flag, or a stop at the turn limit, is not an answer.',
    shown: [
      'src/agents/claude-code/verdict.test.ts > an error is never the answer, and what was said before it is kept',
      'test/real-agents/claude-code-adapter.test.ts > turns and money are held to, and the run says which it was',
    ],
  },
  'W1-9': {
    means: 'An empty result field does not hide text that was said.',
    shown: [
      'src/agents/claude-code/verdict.test.ts > the result is the answer; what was said on the way stands in when it is empty',
    ],
  },
  'W1-10': {
    means: 'On error the text so far is kept; cost, tokens and turns are recorded.',
    shown: [
      'test/engine/program-runs.test.ts > a run that fails keeps what was said, what it used and cost, and how the program ended',
    ],
  },
  'W1-11': { means: 'Each counterpart has a session of its own, and it outlives a restart.', open: 26 },
  'W1-12': {
    means: 'No resume without the check that the session file is there.',
    shown: [
      'test/engine/session-gate.test.ts > a file of another conversation, or a link in its place, is no hit',
      'test/contracts/real-program.ts > goes on after its session files were deleted: they are put back',
    ],
  },
  'W1-13': {
    means: 'Stderr is redacted before it is logged.',
    shown: [
      'test/e2e/redaction.test.ts > leaves none of them in events, answers, logs, raw output or argument lists: %s',
      'src/base/log.test.ts > no part of a line says a secret: %s',
    ],
  },
  'W1-14': {
    means: 'No agent gets every tool without rules; its profile decides.',
    shown: [
      'test/real-agents/rules.test.ts > options of an agent do not go past the rules',
      'test/real-agents/rules.test.ts > the real %s is refused a command by a rule, told why, and ended after the third',
      'test/engine/profile-record.test.ts > what was in force is told for each run, and kept once for all that had the same',
      'src/domain/profile/profile.test.ts > an agent without a copy of its profile has the built-in one that it names',
    ],
  },
  'W1-15': {
    means: 'The session id that came back is the one stored, also when it is a new one.',
    shown: [
      'test/engine/program-runs.test.ts > the id that came back is the one that is stored and gone on with',
      'test/real-agents/codex-adapter.test.ts > a conversation that was begun with the provider %s goes on with ours',
    ],
  },
} as const satisfies Record<string, Requirement>
