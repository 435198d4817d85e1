import type { Requirement } from './requirement.ts'

/** S0 and W0: any command-line program as an agent, and the gate before a session is resumed. */
export const cliExecutor = {
  // The session gate
  'S0-1': {
    means: "A session is resumed only if the program's own file for exactly that id exists.",
    shown: [
      'test/engine/session-gate.test.ts > a file of another conversation, or a link in its place, is no hit',
      'test/engine/session-gate.test.ts > lost files come back from the archive, and the journal says so',
      'test/contracts/real-program.ts > goes on after its session files were deleted: they are put back',
    ],
  },
  'S0-2': {
    means: 'The gate knows every place where a program keeps sessions, tries them in order, stops at the first hit.',
    shown: [
      'test/engine/session-gate.test.ts > without an id nothing is looked for, a hit in the first place takes one look, and every place is tried before giving up',
      'src/agents/claude-code/session-files.test.ts > a conversation is looked for in its project first, and what belongs to it lies beside it',
      'src/agents/codex/session-files.test.ts > a conversation is looked for below the date of its beginning first, then beside those folders',
    ],
  },
  'S0-3': {
    means: 'Nothing found: the id is dropped and this very run goes on without it, not a later one.',
    shown: [
      'test/engine/session-gate.test.ts > where nothing is known of the conversation a new one begins, and says so',
      'test/engine/session-gate.test.ts > an id that this program cannot have given is never looked for, and is dropped on this very run',
    ],
  },
  'S0-4': {
    means: 'No id: no look at the disk. A hit in the first place: one look only.',
    shown: [
      'test/engine/session-gate.test.ts > without an id nothing is looked for, a hit in the first place takes one look, and every place is tried before giving up',
    ],
  },
  'S0-5': {
    means: 'A dropped id is logged at info with the session and a fixed tag one can search for.',
    shown: [
      'test/engine/session-gate.test.ts > what was refused is rebuilt under a new id, and the old one is dropped with a tag one can search for',
    ],
  },
  'S0-6': {
    means: 'Every start passes the gate, also after a restart; no command is built from the stored id alone.',
    shown: [
      'test/contracts/real-program.ts > goes on after its session files were deleted: they are put back',
      'test/contracts/real-program.ts > is told a conversation of which neither files nor archive are left',
      'test/real-agents/warm.test.ts > is not used when somebody else has written the conversation',
    ],
  },
  'S0-7': {
    means: "claude-code's project folder is computed from the working directory as the program does it.",
    shown: [
      'src/agents/claude-code/session-files.test.ts > a rebuilt conversation is one unbroken chain of everything that was said and done',
      'test/real-agents/claude-code-adapter.test.ts > a conversation that is gone is told as such, and goes on when it is rebuilt from what was recorded',
    ],
  },
  'S0-8': {
    means: 'A person can force a fresh conversation with --reset-session.',
    shown: [
      'test/e2e/session.test.ts > go on with their agent and where they began, from any folder, and begin anew when asked to',
      'test/real-agents/warm.test.ts > is not kept when the conversation is to begin anew',
    ],
  },
  'S0-9': {
    means: 'A scheduled or idle tick that failed is shown as failed, however healthy the agent looks.',
    shown: [
      'test/engine/schedule-runs.test.ts > an agent whose conversation is gone fails its tick visibly: in the list, in the health of the daemon, at the first time',
      'test/engine/schedules.test.ts > a tick whose task ended as %s %j is told at the first sight, and stored with the end',
      'test/engine/schedules.test.ts > a task that could not even be made is a failed tick',
      'test/engine/schedules.test.ts > is not tried without pause when the task cannot be made',
    ],
  },
  'S0-10': {
    means: 'The packed package runs outside the repository; every module resolves from the install.',
    open: 22,
  },

  // Choosing the program and building its command line
  'S0-11': {
    means: 'The Molecule form picks an agent by `runtime`; an unknown name is refused with every valid one.',
    shown: [
      'src/config/molecule.test.ts > runtime %s is the agent of that name',
      'src/config/molecule.test.ts > a custom runtime is its command, with the prompt behind -p',
      'src/config/molecule.test.ts > an unknown runtime is refused with every valid one',
      'src/config/molecule.test.ts > the workspace %j is an agent that every part of Pawl accepts by its name',
    ],
  },
  'S0-12': {
    means: 'All `runtime_config` keys are understood, the two deprecated ones included.',
    shown: [
      'src/config/molecule.test.ts > the settings of a workspace become an agent with the same meaning, and every line of it is told',
      'src/config/molecule.test.ts > what has no meaning here, is deprecated or not set is named',
      'src/config/molecule.test.ts > a custom runtime with a model and a system prompt gets them without a further argument',
    ],
  },
  'S0-13': {
    means: 'A preset is data: command, args, where prompt, model and system prompt go, login, MCP.',
    shown: [
      'src/agents/custom/agent.test.ts > everything else that can be declared has its place: fixed, resume, base, model; variables and files beside them',
      'test/engine/run.test.ts > tells a command of our tools by a file whose place is a setting, without the token in it',
    ],
  },
  'S0-14': {
    means: 'The codex preset with the flags of the first system.',
    notOurs: 'C-22: those flags belong to another program; W0-20 and C-16 say how codex is really driven',
  },
  'S0-15': {
    means: 'ollama needs a model and no login, and works without MCP.',
    shown: [
      'test/real-agents/ollama.test.ts > a task without a model fails with a sentence that lists those of the server, and nothing is asked of any',
      'src/agents/ollama/conversation.test.ts > it does several calls of one answer in their order, and a failing one is told to the model',
    ],
  },
  'S0-16': {
    means: 'gemini-cli: GEMINI.md and MCP settings are seeded into the session home; key by GEMINI_API_KEY.',
    shown: [
      'src/agents/gemini-cli/command.test.ts > the system prompt is the GEMINI.md of the session home, and no word of it becomes a file',
      'src/agents/gemini-cli/command.test.ts > our tools are in its settings, with the token in no file',
      'src/agents/gemini-cli/command.test.ts > it is let in by key, by its own login, or by any key where none is wanted',
      'test/real-agents/gemini-cli.test.ts > a repository makes it do nothing, and its key is asked for at the gateway',
    ],
  },
  'S0-17': {
    means: 'custom: the configured command with its own args; nothing is added but the prompt.',
    shown: [
      'src/config/molecule.test.ts > a custom runtime is its command, with the prompt behind -p',
      'test/seeds/molecule.test.ts > the config.yaml of a workspace is an agent that runs with all its prompts, its model and its own arguments',
    ],
  },
  'S0-18': {
    means: 'A configured command replaces the one an adapter would start, whichever agent it is.',
    shown: [
      'src/agents/presets.test.ts > a configured command is started instead of the usual one, whichever program it is, and its arguments stay',
    ],
  },
  'S0-19': {
    means: 'Extra args come after all generated ones; where a prompt must be in argv it is the last.',
    shown: ['src/agents/custom/agent.test.ts > arguments come in order: fixed, model, system prompt, extra, prompt'],
  },
  'S0-20': {
    means: 'Generated args have one fixed order: base, model, system prompt, settings, MCP, extra.',
    shown: [
      'src/agents/claude-code/command.test.ts > everything that can be set comes in its order, the extra arguments last',
      'src/agents/custom/agent.test.ts > arguments come in order: fixed, model, system prompt, extra, prompt',
    ],
  },
  'S0-21': {
    means: 'A model is passed on only if one is configured.',
    shown: [
      'src/agents/claude-code/command.test.ts > a bare run speaks the protocol, reads no settings that an agent could have written, and leaves retries to us',
      'src/agents/claude-code/command.test.ts > everything that can be set comes in its order, the extra arguments last',
      'src/agents/codex/command.test.ts > a model is named only if one is configured',
      'src/agents/custom/agent.test.ts > arguments come in order: fixed, model, system prompt, extra, prompt',
    ],
  },
  'S0-22': {
    means: "doctor and the agent's health say before any run that its program is not on PATH.",
    shown: ['test/e2e/run.test.ts > doctor names an agent whose program is missing, with the cure, and ends with 1'],
  },

  // Login
  'S0-23': {
    means: 'A token is looked for in a fixed order: named variables, preset variable, token file, preset file.',
    shown: [
      'src/engine/auth/agent-access.test.ts > a key is looked for in the named variables, then those of the program, then the named file, then its login',
    ],
  },
  'S0-24': {
    means: "The token reaches the program under the variable's name that the agent's entry asks for.",
    shown: [
      'src/engine/auth/agent-access.test.ts > a key keeps the name it was found under, and gets one that the program knows',
      'test/real-agents/claude-code-adapter.test.ts > it is let in by a %s',
    ],
  },
  'S0-25': {
    means: 'With apiKeyHelper, a 0700 script prints the token; only its path is given to the program.',
    shown: [
      'src/engine/auth/agent-access.test.ts > a script hands the key over, for the owner only, and is gone afterwards',
      'src/agents/claude-code/command.test.ts > everything that can be set comes in its order, the extra arguments last',
      'test/real-agents/claude-code-adapter.test.ts > it is let in by a %s',
    ],
  },
  'S0-26': {
    means: 'Temporary files are listed for removal when made, and gone at the end whatever happens.',
    shown: [
      'src/engine/auth/agent-access.test.ts > a script hands the key over, for the owner only, and is gone afterwards',
      'src/engine/auth/cleanup-journal.test.ts > what a dead process left goes, the file it had not finished too, and what a living one holds stays',
      'test/crash/leftovers.test.ts > %s is gone when the next daemon of that home has started',
    ],
  },

  // Our tools and the system prompt
  'S0-27': {
    means: "Programs that speak MCP get our one server, `pawl`, at the run's door.",
    shown: [
      'src/tools/mcp/serve.test.ts > greets a client of %s as pawl, without a session',
      'test/contracts/real-program.ts > asks through our tool, is blocked, and hears the answer in its next run',
    ],
  },
  'S0-28': {
    means: 'The system prompt file is read again for each run; the configured text stands in for a missing one.',
    shown: [
      'test/engine/program-runs.test.ts > the configured system prompt stands in for a file that is gone, and a file that is there is read for each run',
    ],
  },
  'S0-29': {
    means: 'Team instructions follow the system prompt, in an MCP and in a command-line version.',
    open: 26,
  },
  'S0-30': {
    means: 'An agent without sessions gets the system prompt with every run.',
    shown: ['test/engine/forgetful-agent.test.ts > gets the system prompt with every run, as its file then is'],
  },

  // The turn
  'S0-31': {
    means: 'A message without text gets the fixed sentence as its reply; no task, no run, no memory.',
    shown: [
      'test/a2a/server.test.ts > the text parts of a message are joined, and one without text is answered and starts nothing',
    ],
  },
  'S0-32': {
    means: 'A task keeps the text as it was asked; whatever is put around it belongs to the run.',
    shown: [
      'test/engine/subtasks.test.ts > is asked for before the task where the task wants it or names limits for subtasks, and never of a small task',
    ],
  },
  'S0-33': {
    means: 'A running task shows its current action in one line at once, and no longer when it ends.',
    shown: [
      'test/engine/checks.test.ts > is shown in one line at once, and no longer when it has ended, well or not',
      'src/engine/checks/current-action.test.ts > a call is told by what says most of it, in one line',
    ],
  },
  'S0-34': { means: 'Delegation results that came meanwhile stand before the message, under their label.', open: 26 },
  'S0-35': { means: 'Memories stand outermost, in every run of an agent without sessions.', open: 26 },
  'S0-36': { means: 'After each turn, good or bad, a short memory of what was asked is kept.', open: 26 },
  'S0-37': {
    means: "A run works in its task's workspace, looked up anew for each run.",
    open: 22,
  },
  'S0-38': {
    means: 'Programs are started without a shell; stdout and stderr are kept apart.',
    shown: [
      'test/contracts/sandbox.ts > arguments arrive as they are, whatever characters they hold',
      'src/engine/run/raw-log.test.ts > what a program prints is kept as it is, stdout and stderr apart, for its owner only',
    ],
  },
  'S0-39': {
    means: 'The time limit comes from task or agent; 0 said outright means none.',
    shown: [
      'test/engine/time.test.ts > a time limit of 0 that is said outright means none',
      'test/engine/time.test.ts > a run that exceeds its time is stopped and keeps what it said',
    ],
  },
  'S0-40': {
    means: 'A failure worth repeating is tried three times in all, after 5 s and then 10 s.',
    shown: [
      'src/engine/base/retry.test.ts > waits 5 s after the first try and 10 s after the second, and then gives up',
      'test/engine/plain-programs.test.ts > is tried again after %s',
      'test/engine/plain-programs.test.ts > is parked when it is limited, goes on when the limit is over, and loses no attempt by it',
    ],
  },
  'S0-41': {
    means: 'Exit 0 with text is the answer; exit 0 without text is `empty`, answered with the words that callers look for.',
    shown: [
      'test/contracts/adapter.ts > gives the answer of a program that ends well',
      'src/agents/custom/agent.test.ts > a program that says nothing gives an empty answer',
      'src/engine/base/retry.test.ts > asks once more for an answer that is empty if nothing was done, and not twice',
      'test/a2a/server.test.ts > an answer that is empty is the words that stand for none',
    ],
  },
  'S0-42': {
    means: 'Text printed before a bad exit is kept and shown; the log has code, text and stderr, cut.',
    shown: [
      'test/contracts/adapter.ts > gives no success to a good answer followed by an error code, and keeps the answer',
      'test/engine/run.test.ts > tells the user a plain sentence and the log the rest',
      'test/engine/plain-programs.test.ts > that fails is an error in the log, with its code and the end of what it printed, made harmless',
    ],
  },
  'S0-43': {
    means: 'A bad exit without text shows its code or signal and the end of stderr; the table says if it is retried.',
    shown: [
      'test/engine/run.test.ts > tells the user a plain sentence and the log the rest',
      'test/engine/plain-programs.test.ts > is tried again after %s',
      'test/engine/plain-programs.test.ts > that needs a login is not tried again, and says what to do',
      'test/engine/plain-programs.test.ts > whose conversation is too long for its model fails as that',
    ],
  },
  'S0-44': {
    means: 'The user reads a category with a plain sentence; the details are in the log.',
    open: 22,
  },
  'S0-45': {
    means: 'At the time limit the tree is killed and reaped within bounds: `timed_out`, no retry.',
    shown: [
      'test/engine/time.test.ts > a run that exceeds its time is stopped and keeps what it said',
      'test/contracts/sandbox.ts > a process that forked twice, left its session and ignores signals is gone within 2 s of the stop',
    ],
  },
  'S0-46': {
    means: 'An unexpected throw becomes `internal`: a plain sentence for the user, the trace for the log.',
    shown: [
      'test/engine/run.test.ts > that breaks inside Pawl ends as internal, with a plain sentence for the user and the trace in the log',
    ],
  },
  'S0-47': {
    means: 'Cancel works: it ends the run and everything the run has started.',
    shown: ['test/engine/run.test.ts > ends a cancelled task with grace, and everything it started'],
  },
  'S0-48': {
    means: 'The debug log has at most 200 characters of a prompt.',
    shown: ['test/engine/run.test.ts > logs at most 200 characters of a prompt, and only at debug'],
  },

  // Defects: ending a program, reading its output
  'W0-1': {
    means: 'A cancelled run leaves no program behind.',
    shown: ['test/engine/run.test.ts > ends a cancelled task with grace, and everything it started'],
  },
  'W0-2': {
    means: 'Grandchildren and double-forked children die with the run.',
    shown: [
      'test/contracts/sandbox.ts > a process that forked twice, left its session and ignores signals is gone within 2 s of the stop',
    ],
  },
  'W0-3': {
    means: 'What was printed before a timeout is kept.',
    shown: ['test/engine/time.test.ts > a run that exceeds its time is stopped and keeps what it said'],
  },
  'W0-4': {
    means: 'Output is followed live; it is capped on disk and takes bounded memory.',
    shown: [
      'src/engine/run/raw-log.test.ts > a flood is cut at the cap with a mark, told once, and does not fill our memory',
      'test/e2e/run.test.ts > prints every event as a JSON line with --output-format stream-json',
    ],
  },
  'W0-5': {
    means: 'Bytes that are not UTF-8 do not turn an answer into an error.',
    shown: ['test/contracts/adapter.ts > answers in spite of bytes that are no UTF-8'],
  },
  'W0-6': {
    means: 'A bad exit is a failure whatever was printed.',
    shown: ['test/contracts/adapter.ts > gives no success to a good answer followed by an error code, and keeps the answer'],
  },
  'W0-7': {
    means: 'An empty answer does not make a program with side effects run again.',
    shown: ['src/engine/base/retry.test.ts > completes an empty or partial answer and says so'],
  },

  // Defects: errors and retries
  'W0-8': {
    means: 'A refused login is not retried; a lost session is not retried with the same command.',
    shown: [
      'src/engine/base/retry.test.ts > never retries a login that was refused',
      'test/contracts/real-program.ts > is not tried again when its key was refused',
      'src/engine/run/start-agent.test.ts > %s',
      'test/real-agents/stale.test.ts > goes on within one task with a conversation whose file it refused',
    ],
  },
  'W0-9': {
    means: 'Categories come from fields and anchored text; limits, quota, network and overflow are told apart.',
    shown: [
      'src/agents/claude-code/verdict.test.ts > %s',
      'src/agents/custom/failure.test.ts > say that a limit is met: %s',
      'src/agents/custom/failure.test.ts > name when the limit ends: %s',
      'src/agents/custom/failure.test.ts > say that a login is needed, and the sentence says what to do: %s',
      'src/agents/custom/failure.test.ts > say that the network failed: %s',
      'src/agents/custom/failure.test.ts > say that the conversation is too long: %s',
      'src/agents/custom/failure.test.ts > are about something else: %s',
      'src/agents/custom/failure.test.ts > say of exit code 127 that a program is missing, and how it is installed',
      'test/engine/plain-programs.test.ts > that speaks of 429 in an answer and ends well has met no limit',
      'src/agents/codex/verdict.test.ts > the structured cause %o outranks the words',
      'src/agents/codex/verdict.test.ts > %s is understood as what it says at its beginning',
      'test/real-agents/claude-code-adapter.test.ts > %s is told as %s, at once and without any answer',
      'test/real-agents/codex-adapter.test.ts > the failure %s is %s, at once',
    ],
  },
  'W0-10': {
    means: 'Waiting has jitter, honours Retry-After and reset times, and can be interrupted.',
    shown: [
      'src/engine/base/retry.test.ts > adds at most a quarter by chance and never exceeds the longest delay by more',
      'src/engine/base/retry.test.ts > waits for the time the provider named when that is later',
      'test/real-agents/limits.test.ts > parks the task until the plan is full again',
      'test/engine/waiting-turns.test.ts > a run that is to be tried again waits 5 s, says so, and a cancel ends the waiting at once',
    ],
  },

  // Defects: arguments, login, environment
  'W0-11': {
    means: 'A prompt is in no process list, may be 1 MB, and may start with a dash.',
    shown: [
      'test/e2e/run.test.ts > takes a prompt of 1 MB, one that starts with a dash, and one from stdin',
      "test/engine/run.test.ts > cannot read our home, and its prompt is in nobody's arguments",
    ],
  },
  'W0-12': {
    means: 'ollama without a model is refused with a sentence; the prompt is never taken for a model.',
    shown: [
      'test/real-agents/ollama.test.ts > a task without a model fails with a sentence that lists those of the server, and nothing is asked of any',
      'src/agents/ollama/model-facts.test.ts > without a model it is refused with a sentence that lists those of the server, and the prompt is not taken for one',
    ],
  },
  'W0-13': {
    means: 'A variable that is configured but not set does not hide the next place to look for a token.',
    shown: [
      'src/engine/auth/agent-access.test.ts > the first variable that holds something counts, and an empty one does not hide the next',
    ],
  },
  'W0-14': {
    means: 'A token goes to the program under the name it was found under.',
    shown: [
      'src/engine/auth/agent-access.test.ts > a key keeps the name it was found under, and gets one that the program knows',
    ],
  },
  'W0-15': {
    means: 'The environment is built from an allow-list; no token file outlives a killed Pawl for long.',
    shown: [
      'test/engine/run.test.ts > gets nothing of our environment but what its agent is given',
      'test/crash/leftovers.test.ts > %s is gone when the next daemon of that home has started',
    ],
  },
  'W0-16': {
    means: "A program never reads Pawl's own stdin.",
    shown: [
      'test/contracts/adapter.ts > does not mind a program that never reads its prompt',
      'test/contracts/sandbox.ts > a prompt written before the agent starts reaches it whole (door: %s)',
    ],
  },

  // Defects: order, delivery, honesty
  'W0-17': {
    means: 'Two tasks never work in one workspace at once.',
    shown: ['test/engine/admission.test.ts > runs tasks of one workspace one after another and those of two at once'],
  },
  'W0-18': { means: 'Delegation results are used up only when the run that saw them has settled.', open: 26 },
  'W0-19': {
    means: 'A failure reaches other agents as a failed task, never as ordinary text.',
    shown: ['test/a2a/server.test.ts > an agent that fails is a failed task, and never an answer'],
  },
  'W0-20': {
    means: 'codex is started with flags its probed version really has.',
    shown: [
      'src/agents/codex/command.test.ts > %s with version %s is spoken to by %s',
      'src/agents/codex/probe.test.ts > %s is too old, and the fix is named',
      'test/real-agents/codex-adapter.test.ts > %s: it answers, tells what it used, and can be resumed by another process',
    ],
  },
  'W0-21': { means: 'Automatic memories are useful, redacted, and do not push better ones out.', open: 26 },
  'W0-22': {
    means: 'Without configuration there is a time limit.',
    shown: ['src/config/config.test.ts > without any file the defaults and the built-in agents are in force'],
  },
  'W0-23': {
    means: 'A missing program is an unhealthy agent with a cure, not a failure of every task.',
    shown: [
      'test/e2e/run.test.ts > refuses %s in a sentence',
      'test/e2e/run.test.ts > doctor names an agent whose program is missing, with the cure, and ends with 1',
    ],
  },
  'W0-24': {
    means: 'A2A tasks and push notifications survive a restart; only what works is advertised.',
    shown: [
      'test/a2a/server.test.ts > streams and tasks outlive a daemon that is killed',
      'test/a2a/server.test.ts > cards need a token, are signed with a key of the home, and say more where more is asked',
      'test/engine/listeners.test.ts > one that fails is tried again under the same id, holds up no other listener, and is told in order',
      'test/crash/matrix.test.ts > $name',
    ],
  },
} as const satisfies Record<string, Requirement>
