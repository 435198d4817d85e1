import type { Requirement } from './requirement.ts'

/** C: where the five systems disagree, this is what holds. */
export const rulings = {
  'C-1': {
    means: 'A conversation belongs to a session in the database; who shares one is a rule for choosing it.',
    shown: [
      'test/engine/session-verbs.test.ts > is listed with its last task and shown with all of them, newest first',
      'test/contracts/real-program.ts > answers, and its session goes on in the next task',
      'test/real-agents/warm.test.ts > does not serve another session',
    ],
  },
  'C-2': {
    means: 'Stale session: gate by exact id, then one more run restored, rebuilt or fresh; store the id that comes back.',
    shown: [
      'test/engine/session-gate.test.ts > a file of another conversation, or a link in its place, is no hit',
      'test/engine/session-gate.test.ts > a file that the program refused is replaced by the archive, also where it lay elsewhere',
      'test/engine/session-gate.test.ts > without an archive the conversation is rebuilt in the form of the program, under its own id',
      'test/engine/session-gate.test.ts > where nothing is known of the conversation a new one begins, and says so',
      'test/real-agents/stale.test.ts > goes on within one task with a conversation whose file it refused',
      'test/engine/program-runs.test.ts > the id that came back is the one that is stored and gone on with',
    ],
  },
  'C-3': { means: 'Memories: each turn without sessions; with them, on a new or rebuilt conversation.', open: 26 },
  'C-4': {
    means: 'A profile is always resolved; working without rules or walls is named, explicit and shown.',
    shown: [
      'test/engine/profile-choice.test.ts > a task may name a profile of the daemon, which is stored whole with it',
      'src/domain/profile/profile.test.ts > what is missing, goes in circles, or would take walls down is refused by name',
      'src/config/profiles.test.ts > a project that is not trusted may choose a narrower profile, and define or widen none',
      'src/cli/profile.test.ts > a profile without walls is said loudly, even if nothing else is',
      'test/e2e/without-bubblewrap.test.ts > no agent works unattended, and the refusal names the cure',
      'test/e2e/without-bubblewrap.test.ts > whoever names the profile without walls is served, and told in every place that nothing is enforced',
    ],
  },
  'C-5': {
    means: 'Text and outcome are apart: text is always kept, a bad exit fails unless declared tolerable.',
    shown: [
      'test/contracts/adapter.ts > gives no success to a good answer followed by an error code, and keeps the answer',
      'src/agents/custom/agent.test.ts > a declared exit code counts as good',
      'test/e2e/run.test.ts > keeps the text of a failing command and ends with 1',
    ],
  },
  'C-6': {
    means: 'Total and silence limits are always set; only an explicit 0 lifts one.',
    shown: [
      'src/config/config.test.ts > without any file the defaults and the built-in agents are in force',
      'src/config/duration.test.ts > 0 is no wait for a wait, and no limit for a limit',
      'test/engine/time.test.ts > a time limit of 0 that is said outright means none',
      'src/engine/base/working.test.ts > a silent program is stalled after the idle limit, and it is said what was seen last',
      'test/contracts/real-program.ts > that waits for a tool for longer than it may be silent is not ended',
    ],
  },
  'C-7': {
    means: 'One table decides on retries: three tries, 5 s doubling, jitter, Retry-After, reset time.',
    shown: [
      'src/engine/base/retry.test.ts > waits 5 s after the first try and 10 s after the second, and then gives up',
      'src/engine/base/retry.test.ts > adds at most a quarter by chance and never exceeds the longest delay by more',
      'src/engine/base/retry.test.ts > waits for the time the provider named when that is later',
      'src/engine/base/retry.test.ts > parks at a usage limit until its reset without costing a try',
      'src/engine/base/retry.test.ts > a first run that fails as %s leads to %s',
      'test/engine/weeks/limits.test.ts > an overloaded provider is asked by one task at a time, less and less often, and by all when it answers',
      'test/engine/weeks/limits.test.ts > of 200 parked tasks one goes first after the reset, the others come apart from each other when it has worked, each wakes once',
    ],
  },
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
      'test/engine/run.test.ts > is gone without any grace when it is cancelled now, whatever it ignores',
    ],
  },
  'C-10': {
    means: 'Users see category, hint and reference; operators the redacted detail.',
    shown: [
      'test/e2e/detail.test.ts > a viewer is told what kind of trouble it was and where to look it up, an operator the detail',
    ],
  },
  'C-11': {
    means: 'One question entity behind every entrance: tool, file, permission request, protocol.',
    shown: [
      'test/engine/questions/answers.test.ts > a question file with %s blocks the task, and the answer goes on',
      'test/real-agents/questions.test.ts > hears the answer to a question (%s) that comes days later, after a restart',
      'test/real-agents/questions.test.ts > uses a permission that was given days later, after a restart, once and for that very call',
      'test/engine/questions.test.ts > a task that asks twice waits for both answers and hears both, in whatever order they come',
    ],
  },
  'C-12': {
    means: 'Prompts go by stdin or file; by argv only where declared, after an end-of-options mark, size-checked.',
    shown: [
      'src/agents/custom/agent.test.ts > a prompt that begins with a dash arrives by %s %s',
      'src/agents/custom/agent.test.ts > what the command cannot take is refused by the name of the option',
      "test/engine/run.test.ts > cannot read our home, and its prompt is in nobody's arguments",
    ],
  },
  'C-13': {
    means: 'Output is decoded as UTF-8 piece by piece, bad bytes replaced.',
    shown: [
      'src/sandbox/process/lines.test.ts > a character split between chunks stays whole',
      'src/sandbox/process/lines.test.ts > bytes that are not UTF-8 become replacement characters of their own line only',
    ],
  },
  'C-14': {
    means: 'One run per session and per workspace; limits for all, per agent and per user.',
    shown: [
      'test/engine/run.test.ts > never overlaps with another of its session, and does with one of another',
      'test/engine/admission.test.ts > runs tasks of one workspace one after another and those of two at once',
      'test/engine/admission.test.ts > never starts more than the limit allows',
      'test/engine/admission.test.ts > lets 199 lanes run while one lane of 200 is full',
      'test/engine/weeks/admission-properties.test.ts > two runs never share a session or a workspace, no limit is exceeded, suspects run alone, ranks decide, and every task comes to its end',
      'test/engine/weeks/admission-properties.test.ts > an old task of low priority runs although tasks of high priority keep coming',
      'test/engine/user-limits.test.ts > a user has no more running than their slots, and stands in nobody’s way with the rest',
    ],
  },
  'C-15': {
    means: 'Events are only ever appended; raw streams are kept per run.',
    shown: ['test/engine/run.test.ts > leaves the events and raw logs of an earlier run as they were'],
  },
  'C-16': {
    means: "codex's commands are chosen by probe: JSON events where offered, `exec` and `exec resume`.",
    shown: [
      'src/agents/codex/command.test.ts > %s with version %s is spoken to by %s',
      'src/agents/codex/command.test.ts > exec takes its prompt by stdin, resumed or not, with the schema as a file',
      'test/real-agents/codex-adapter.test.ts > the probe finds the program behind the launcher that npm installs',
    ],
  },
  'C-17': {
    means: 'Task states and run outcomes are one table each, and every outcome leads to a state.',
    shown: [
      'test/engine/moves.test.ts > is the only way: the store refuses every move that is not in it',
      'test/engine/moves.test.ts > has exactly one state for every outcome of a run',
    ],
  },
  'C-18': {
    means: 'An empty answer is the outcome `empty`; it is tried again only if no tool ran.',
    shown: [
      'test/engine/program-runs.test.ts > an empty answer is asked for once more if nothing was done, and delivered as such if tools ran',
      'src/engine/base/retry.test.ts > asks once more for an answer that is empty if nothing was done, and not twice',
      'src/engine/base/retry.test.ts > delivers an empty answer that tools stand behind as it is, also to whoever reviews it',
    ],
  },
  'C-19': { means: 'Messages come in by an inbox and go out by an outbox, once per message id.', open: 27 },
  'C-20': {
    means: "Hard facts outrank the agent's header, which may lower the outcome and never raise it.",
    shown: [
      'test/engine/checks.test.ts > lowers the outcome, and then nothing is checked',
      'test/engine/checks.test.ts > raises nothing: a program that fails has failed, and so has work whose checks do',
    ],
  },
  'C-21': {
    means: 'Our MCP server is called `pawl`.',
    shown: ['src/tools/mcp/serve.test.ts > greets a client of %s as pawl, without a session'],
  },
  'C-22': {
    means: 'codex and ollama are driven as the real programs are, not as first written down.',
    shown: [
      'src/agents/codex/command.test.ts > %s with version %s is spoken to by %s',
      'test/real-agents/codex-adapter.test.ts > %s: it answers, tells what it used, and can be resumed by another process',
      'src/agents/ollama/conversation.test.ts > it thinks, answers, and takes another prompt in the same process and conversation',
      'src/agents/ollama/model-facts.test.ts > with the option pull it is pulled, and how far that is is told',
    ],
  },
  'C-23': { means: 'The start of the question is only the fallback for a better short memory.', open: 26 },
} as const satisfies Record<string, Requirement>
