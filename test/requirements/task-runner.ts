import type { Requirement } from './requirement.ts'

/** S4 and W4: a queue of tasks with logs, cost, questions and subtasks. */
export const taskRunner = {
  // Starting
  'S4-1': {
    means: "The path of an agent's program is configurable; `claude` is found without.",
    shown: [
      'src/agents/claude-code/probe.test.ts > a link on the search path leads to the program itself, with its version and login',
      'test/real-agents/claude-code-adapter.test.ts > it is found on the search path, as the file itself and with its version',
      'test/engine/program-runs.test.ts > the id that came back is the one that is stored and gone on with',
    ],
  },
  'S4-2': {
    means: 'A workspace that does not exist is refused by name before anything else happens.',
    shown: ['test/engine/run.test.ts > refuses a workspace that does not exist by name and creates nothing'],
  },
  'S4-3': {
    means: 'Each run has its own folder, 0700, for raw stdout and stderr, known before the start.',
    shown: ['test/engine/run.test.ts > keeps its raw output in a folder of its own that only its owner may read'],
  },
  'S4-4': {
    means: 'A session id is assigned before the start where the program allows it.',
    shown: [
      'test/engine/program-runs.test.ts > the id that came back is the one that is stored and gone on with',
      'test/real-agents/claude-code-adapter.test.ts > it answers under the id it was given, warm for the next turn, and can be resumed by another process',
    ],
  },
  'S4-5': {
    means: "The agent learns the API's address, its task and its question file, under the old names as well.",
    shown: [
      'test/engine/subtasks.test.ts > an agent finds the address, its task and its question file under our names and those of Claudomator',
      'test/engine/subtasks.test.ts > may be written as Claudomator writes it, with its variables, and is read back',
    ],
  },
  'S4-6': {
    means: 'Cancel ends the whole tree of a run.',
    shown: ['test/engine/run.test.ts > ends a cancelled task with grace, and everything it started'],
  },
  'S4-7': {
    means: 'Output is stored and read at the same time, and drained before the run is judged.',
    shown: ['test/contracts/sandbox.ts > what was written before the exit arrives whole, however slowly it is read'],
  },
  'S4-8': {
    means: 'Cost and exit code are recorded on failure too.',
    shown: [
      'test/engine/program-runs.test.ts > a run that fails keeps what was said, what it used and cost, and how the program ended',
    ],
  },
  'S4-9': {
    means: 'A retry waits 5 s, then doubles, says so, and stops at once when cancelled.',
    shown: [
      'src/engine/base/retry.test.ts > waits 5 s after the first try and 10 s after the second, and then gives up',
      'test/engine/waiting-turns.test.ts > a run that is to be tried again waits 5 s, says so, and a cancel ends the waiting at once',
    ],
  },
  'S4-10': {
    means: 'A question file left at the end blocks the task with that question and its session.',
    shown: ['test/engine/questions/answers.test.ts > a question file with %s blocks the task, and the answer goes on'],
  },

  // Command lines and streams of claude-code
  'S4-11': {
    means: 'Resume: the answer is the prompt, with the session id, profile and model.',
    shown: [
      'src/agents/claude-code/command.test.ts > a resumed conversation keeps every limit and instruction',
      'src/engine/run/prompt.test.ts > gives a program that remembers only the answer',
      'test/contracts/real-program.ts > asks in its own way, is blocked, and hears the answer in its next run',
    ],
  },
  'S4-12': {
    means: 'New conversation: id, model, budget, tools, directories, system prompt in a fixed order, extra args last.',
    shown: [
      'src/agents/claude-code/command.test.ts > everything that can be set comes in its order, the extra arguments last',
      'src/agents/claude-code/command.test.ts > what one task says of tools and folders comes after what the agent has, and a resumed conversation has all of it',
      'src/agents/claude-code/command.test.ts > a budget that would be written as nothing is left to ours',
      'test/seeds/claudomator.test.ts > a task file runs as it is: one after the other, planned unless it says otherwise, with context folders that can be written',
    ],
  },
  'S4-13': {
    means: 'A planning preamble comes first unless the task skips it.',
    shown: [
      'src/task-file/read.test.ts > of Claudomator is asked to plan and has Bash for that, unless it says otherwise',
      'test/seeds/claudomator.test.ts > a task file runs as it is: one after the other, planned unless it says otherwise, with context folders that can be written',
    ],
  },
  'S4-14': {
    means: 'An error flag fails the run even on exit 0; lines that are not JSON are kept and passed over.',
    shown: [
      'src/agents/claude-code/verdict.test.ts > an error is never the answer, and what was said before it is kept',
      'test/contracts/adapter.ts > is not misled by garbage on stdout',
      'src/agents/claude-code/transcripts.test.ts > may print lines that nobody knows yet: %s',
    ],
  },
  'S4-15': {
    means: 'A line of any length is read.',
    shown: [
      'src/agents/custom/agent.test.ts > a jsonl line of 5 MB is read whole',
      'src/sandbox/process/lines.test.ts > a line of 50 MB takes at most 64 MB more than itself',
    ],
  },
  'S4-16': {
    means: 'A task can set model, budget, rules, tools, context, system prompt, extra args, planning.',
    open: 22,
  },

  // Defects
  'W4-1': {
    means: 'A retry never reuses an id that the program will call taken.',
    shown: [
      'test/engine/program-runs.test.ts > a run that is tried again never begins a conversation under an id that is taken',
      'test/real-agents/claude-code-adapter.test.ts > a conversation that is gone is told as such, and goes on when it is rebuilt from what was recorded',
    ],
  },
  'W4-2': {
    means: 'Each run has its own logs and its own cost.',
    shown: [
      'test/engine/run.test.ts > leaves the events and raw logs of an earlier run as they were',
      'test/engine/ledger.test.ts > a run that is lost keeps what was booked, and its task counts it with the runs that follow',
    ],
  },
  'W4-3': {
    means: 'A huge line neither stops reading nor loses the result.',
    shown: [
      'test/contracts/adapter.ts > survives a line of 5 MB and still gives the answer',
      'src/sandbox/process/lines.test.ts > a line over the cap is cut, its rest is counted, and the next line is whole',
    ],
  },
  'W4-4': {
    means: 'A question is stored before its file goes, checked, read on every exit, cleared before a run.',
    shown: [
      'test/engine/questions/answers.test.ts > a question file with %s blocks the task, and the answer goes on',
      'test/engine/questions/answers.test.ts > a question file that cannot be asked is a note with its text, and the run ends as it ended',
      'test/engine/questions/answers.test.ts > what nobody has read of a run that was lost is asked by the next one',
    ],
  },
  'W4-5': {
    means: 'A resumed run has every limit and rule of the first.',
    shown: [
      'src/agents/claude-code/command.test.ts > what one task says of tools and folders comes after what the agent has, and a resumed conversation has all of it',
      'src/agents/codex/command.test.ts > what one task may not use is taken away, resumed or not',
      'test/real-agents/restrictions.test.ts > the real %s has no shell when the task takes it away, at first and when it goes on',
    ],
  },
  'W4-6': {
    means: 'After a second question the session is still the right one.',
    shown: ['test/engine/program-runs.test.ts > after a second question the conversation is still the one that asked'],
  },
  'W4-7': {
    means: 'After a normal end no child is left; a held stdout hangs nothing; kills have grace and no pid mix-up.',
    shown: [
      'test/engine/run.test.ts > does not wait for a grandchild that keeps its output open',
      'test/contracts/sandbox.ts > a unit is ended by its whole mark, never by a part of it',
      'test/contracts/sandbox.ts > a stop with grace lets the agent tidy up',
    ],
  },
  'W4-8': {
    means: 'The failure text of stream and stderr counts, whatever the exit code.',
    shown: [
      'src/agents/claude-code/conversation.test.ts > an end without a result after "%s" is %s',
      'test/real-agents/codex-adapter.test.ts > exec: the failure %s is %s',
      'test/real-agents/codex-adapter.test.ts > %s: a setting that the program refuses is told in its own words',
    ],
  },
  'W4-9': {
    means: 'Denials are known by structure, and an agent that recovers is not failed for one.',
    shown: [
      'test/real-agents/claude-code-adapter.test.ts > a tool is asked for, and the agent goes on when it is %s',
      'test/real-agents/codex-adapter.test.ts > without walls it asks before it acts, and goes on when the tool is %s',
    ],
  },
  'W4-10': {
    means: "claude's prompt is not in argv.",
    shown: [
      'src/agents/claude-code/command.test.ts > the prompt is nowhere on the command line, in the environment or in a file',
    ],
  },
  'W4-11': {
    means: 'Subtasks are limited in number, depth and budget, and a forbidden tool stays forbidden.',
    shown: [
      'test/real-agents/restrictions.test.ts > the real %s has no shell when the task takes it away, at first and when it goes on',
      'test/engine/subtasks.test.ts > is as many as its task may have in the whole tree',
      'test/engine/subtasks.test.ts > goes only as deep as its task says',
      'test/engine/subtasks.test.ts > takes its caps from the share of its task, and the sum of them never exceeds it',
      'test/engine/subtasks.test.ts > is no wider profile, no other workspace, no other parent and no agent that its task does not name',
      'test/real-agents/subtasks.test.ts > a task that is planned without Bash is not given it',
    ],
  },
  'W4-12': {
    means: 'Total and silence limits hold, the environment is fresh, logs are capped and redacted.',
    shown: [
      'test/engine/time.test.ts > a run that exceeds its time is stopped and keeps what it said',
      'test/engine/time.test.ts > an agent that falls silent is stopped, however many bytes it drips',
      'test/engine/run.test.ts > gets nothing of our environment but what its agent is given',
      'src/engine/run/raw-log.test.ts > a flood is cut at the cap with a mark, told once, and does not fill our memory',
      'src/engine/run/raw-log.test.ts > a secret is not in the files, however it arrives, and whoever reads the program hears it as it was',
      'test/e2e/redaction.test.ts > leaves none of them in events, answers, logs, raw output or argument lists: %s',
    ],
  },
  'W4-13': {
    means: 'A spent budget is an outcome of its own.',
    shown: [
      'test/engine/money.test.ts > a task that has used up its budget is stopped, keeps what it said and cost, and goes on with a raised cap',
      'test/real-agents/money.test.ts > is stopped soon after its cap, keeps what it cost, and goes on with a larger one',
    ],
  },
} as const satisfies Record<string, Requirement>
