import type { Requirement } from './requirement.ts'

/** B: what the larger systems around the five do, as far as an issue names it. */
export const largerSystems = {
  // Around the CLI and SDK executors: Molecule
  'B0-1': { means: 'Agents form a team with roles, tiers and parents, and who may talk to whom follows from it.', open: 26 },
  'B0-2': {
    means: 'An agent is online, degraded, offline, paused or hibernated by what it really does; a message wakes it.',
    open: 26,
  },
  'B0-3': {
    means: 'Error rate, active tasks and the current action of an agent are reported, and a change is seen at once.',
    open: 26,
  },
  'B0-4': {
    means: 'A delegation has an id and a state, is made once, and its result reaches and wakes the agent that asked.',
    open: 26,
  },
  'B0-5': { means: 'A delegation to a busy peer is queued, once and by priority, instead of dropped.', open: 26 },
  'B0-6': {
    means: 'Agents have tools to delegate, list peers, message the user, remember, and read their inbox.',
    open: 26,
  },
  'B0-7': {
    means: 'A message to an agent says its kind, sender and time; the agent can wait for it, peek at it and take it.',
    open: 26,
  },
  'B0-8': {
    means: 'Memories are local, of the team or global; they are redacted, searched, and bounded by rights and age.',
    open: 26,
  },
  'B0-9': { means: 'Recall, short memories, brief summaries and shown errors keep to their known bounds and forms.', open: 26 },
  'B0-10': {
    means: 'Every key of a Molecule config.yaml is mapped, named as one that does nothing, or refused by name.',
    shown: [
      'src/config/molecule.test.ts > the settings of a workspace become an agent with the same meaning, and every line of it is told',
      'src/config/molecule.test.ts > what has no meaning here, is deprecated or not set is named',
      'src/config/molecule.test.ts > all prompt files are read in their order, and those that are missing are named',
      'src/config/molecule.test.ts > the initial and the idle prompt are schedules of the agent',
      'src/config/molecule.test.ts > skills that Pawl has are those of the agent, and any other is refused with the command that brings it',
      'src/config/molecule.test.ts > what Pawl decides elsewhere is refused by name with what to do, and an empty value says nothing',
    ],
  },
  'B0-11': { means: 'A Molecule workspace is checked before it starts, and each problem is told with its fix.', open: 22 },
  'B0-12': {
    means: "A workspace's initial prompt is sent once, whatever crashes, and its idle prompt when it has been idle.",
    open: 22,
  },
  'B0-13': {
    means: 'Schedules go by cron and time zone, skip a busy agent, show failed and empty ticks, and survive a crash.',
    shown: [
      'test/engine/schedules.test.ts > fire once at each time they are due, through a change of clocks, for three weeks',
      'test/engine/schedules.test.ts > is left out, which is told after the third time',
      'test/engine/schedules.test.ts > a tick whose task ended as %s %j is told at the first sight, and stored with the end',
      'test/engine/schedules.test.ts > one whose zone is not known any more is paused and told, and the others go on',
      'test/engine/schedules.test.ts > a tick without its task gets it, once',
      'test/engine/schedules.test.ts > keep the last hundred ticks',
    ],
  },
  'B0-14': { means: 'An adapter declares what it can do, and can mark its agent as degraded, with a fix.', open: 26 },
  'B0-15': {
    means: 'The web UI shows the team as a chart with live edges, and chat, activity, files and memory of each agent.',
    open: 26,
  },
  'B0-16': {
    means: 'Plugins, chat channels, approvals, monthly budgets, audit, bundles, org templates, checkpoints, hibernation.',
    open: 28,
  },
  'B0-17': {
    means: 'codex is one process that is given turn after turn, because a process per message loses continuity.',
    shown: [
      'src/agents/codex/command.test.ts > the program that was probed is started as app-server, and the prompt is nowhere in sight',
      'test/real-agents/warm.test.ts > serves the next turn of its session',
    ],
  },

  // Around the guarded agent core: Ag3ntum
  'B2-1': {
    means: 'Several users share one server, and sandbox, accounts, rights and rules keep their agents apart.',
    open: 25,
  },
  'B2-2': {
    means: 'The HTTP API has sign-in, sessions, events, results, files, questions, skills, queue, health and users.',
    open: 25,
  },
  'B2-3': {
    means: 'Events are stored, then streamed: replay after a number, then live with beats, none lost or doubled.',
    shown: [
      'src/surfaces/http/sse.test.ts > a stream begins with the past, goes on live, and each event carries its number',
      'src/surfaces/http/sse.test.ts > Last-Event-ID resumes and wins over the query',
      'src/surfaces/http/sse.test.ts > a quiet stream beats every 15 seconds',
      'src/surfaces/http/sse.test.ts > a reader that takes nothing for 10 seconds is cut and resumes without a gap',
      'src/client/client.test.ts > a follower that is cut again and again sees every event once and in order',
      'src/client/client.test.ts > what an agent is saying comes beside its events, in pieces without a number, and goes when its event comes',
      'test/protocols/http-feed.test.ts > all tasks are followed by one stream, from where it was left, also over a restart of the daemon',
    ],
  },
  'B2-4': { means: 'A session that waits says what for and behind whom; a cancelled one resumes with what was left.', open: 23 },
  'B2-5': {
    means: 'A question is stored and ends the run; an answer days later goes on; cancelling the task closes it.',
    shown: [
      'test/real-agents/questions.test.ts > hears the answer to a question (%s) that comes days later, after a restart',
      'test/engine/questions.test.ts > a question ends with the task that asked it: whoever answers later is told',
    ],
  },
  'B2-6': {
    means: 'Five equal errors, five equal calls or five silent turns end a run; three turns of mere lists warn.',
    shown: [
      'src/engine/guardrails/breaker.test.ts > the fifth time that a tool fails with the same error is the last, whatever ids and times the error has',
      'src/engine/guardrails/breaker.test.ts > %s is the same error as any other %s',
      'src/engine/guardrails/breaker.test.ts > only the beginning of an error counts',
      'src/engine/guardrails/breaker.test.ts > the same call five times in a row trips, in whatever order its input is written',
      'src/engine/guardrails/breaker.test.ts > starting subagents and waiting for a command may be repeated',
      'src/engine/guardrails/breaker.test.ts > five turns without a word and without a tool trip; thinking is no word',
      'src/engine/guardrails/breaker.test.ts > three turns that only keep a list are told of once, and stop nothing',
      'test/engine/money.test.ts > an agent whose tool fails the same way again and again is stopped, and its words and cost are kept',
    ],
  },
  'B2-7': {
    means: 'A call around the sandbox stops at once; three denials of a tool or six in all interrupt, after a warning.',
    open: 22,
  },
  'B2-8': {
    means: 'The sandbox dies with Pawl, has processes, names and files of its own, a clean environment, and fails closed.',
    shown: [
      'test/contracts/sandbox.ts > when the supervisor is killed nothing of the unit is alive 2 s later (door: %s)',
      'test/contracts/sandbox.ts > the environment is ours alone, also that of the first process inside (door: %s)',
      'src/sandbox/bubblewrap/view.test.ts > processes, shared memory and names are its own, not those of the machine',
      'src/sandbox/bubblewrap/view.test.ts > the programs and settings of the machine, and nothing else of it',
      'src/sandbox/bubblewrap/view.test.ts > nothing is writable but the workspace, the home, and rooms that are gone at the end',
      'src/sandbox/bubblewrap/view.test.ts > the devices are the harmless ones, and the machine has no name',
      'src/sandbox/bubblewrap/limits.test.ts > files in memory count, and all the room for them is no more than the memory',
      'test/engine/profile-runs.test.ts > does not start where a required mount is missing, and goes on without an optional one, each by its name',
    ],
  },
  'B2-9': {
    means: 'File tools leave secrets and read-only places alone, and refuse names that escape or deceive.',
    shown: [
      'src/tools/strict/strict.test.ts > is neither read, written, listed nor found',
      'src/tools/strict/strict.test.ts > is not reached by a link of another name',
      'src/tools/strict/strict.test.ts > is what the walls cover, too',
      'src/tools/strict/strict.test.ts > see a folder that is mounted inside the workspace',
      'src/tools/files/path-text.test.ts > %j is refused: it %s',
      'src/tools/files/path-text.test.ts > a name has at most 255 bytes, and a path 4096',
      'src/tools/files/path-text.test.ts > a path has one form however its accents are written',
      'src/tools/files/traversal.test.ts > %j leads nowhere with any tool',
    ],
  },
  'B2-10': {
    means: 'Runs are limited in all, per user and per day, and the queue too; a restart resumes what ran, before the rest.',
    open: 25,
  },
  'B2-11': {
    means: 'Large inputs work, uploads are limited in size, number and kind, and previews show no secret.',
    open: 25,
  },
  'B2-12': { means: 'The gateway knows models by name alone, and translates messages, tools and streams.', open: 23 },
  'B2-13': {
    means: 'Commands on other machines have sealed keys, modes, levels, hard blocks, approvals, limits and an audit.',
    shown: [
      'test/engine/strict-tools.test.ts > works on another machine with a key that only Pawl has, asks about what destroys, and writes all of it down',
      'test/secrets/store.test.ts > is listed by name, scope and time, and its value is nowhere in the database',
      'src/tools/ssh/filter.test.ts > %j is %s in a filtered shell',
      'src/tools/ssh/filter.test.ts > %j is refused at every level and in every mode',
      'src/tools/ssh/filter.test.ts > bound what is allowed',
      'src/tools/ssh/ssh-tools.test.ts > refuse what the filter refuses without going there, and ask about what destroys',
      'src/tools/ssh/ssh-tools.test.ts > end what takes too long or prints too much',
      'src/tools/ssh/ssh-tools.test.ts > keep to three connections at once and thirty commands a minute',
    ],
  },
  'B2-14': {
    means: 'Prompts have variables, conditions and bounded includes, evaluate nothing, and are read anew.',
    open: 28,
  },
  'B2-15': {
    means: 'The web UI shows chat beside files, tool calls, subagents, to-dos, questions, and its own connection.',
    open: 23,
  },

  // Around the channel daemon
  'B3-1': {
    means: 'Polling backs off from 1 to 60 s; a failed acknowledgement runs nothing again; bad messages are drained.',
    open: 27,
  },
  'B3-2': {
    means: 'A channel polls whoever embeds it, and finds codex with a short PATH and by the flags of its version.',
    open: 27,
  },
  'B3-3': {
    means: 'A channel over MCP starts its server in bounded time, keeps its chats apart, and fails what a lost link left.',
    open: 27,
  },
  'B3-4': { means: 'Behind a channel one codex process serves a thread, turn after turn and one at a time.', open: 27 },

  // Around the task runner: Claudomator
  'B4-1': {
    means: 'A local queue for coding agents with a page for the phone, a live API, a CLI from init to logs, and settings.',
    open: 23,
  },
  'B4-2': { means: 'Every field of a Claudomator task file, below `agent:` or `claude:`, means the same here.', open: 22 },
  'B4-3': {
    means: 'Moves follow one table: review, rejection with a comment, waiting for subtasks, and retry from any bad end.',
    shown: [
      'test/engine/moves.test.ts > is the only way: the store refuses every move that is not in it',
      'test/engine/state-table.test.ts > no task ever makes a move that is not in the table (seed %i)',
      'test/engine/state-table.test.ts > a task that ended as %s goes on when somebody retries it',
      'test/engine/review.test.ts > work that is to be reviewed waits for a person, and is completed by whoever accepts it',
      'test/engine/review.test.ts > work that is rejected goes on in the same session with the comment, set apart, and is reviewed again',
      'test/engine/subtasks.test.ts > waits for its subtasks, goes on with what they came to, and is completed',
      'test/engine/subtasks.test.ts > a task that is to be looked at after its subtasks is, and hears of them with the comment',
      'test/engine/subtasks.test.ts > gives them its rights, its user, its place and what it is held to, and none of its reviews',
      'test/engine/subtasks.test.ts > a task without subtasks is never said to have finished them',
    ],
  },
  'B4-4': {
    means: 'A task is created, cancelled, accepted, rejected, answered, resumed, and made of free text, over HTTP.',
    shown: [
      'test/page/page.test.ts > needs no mouse: a task is written, started, answered in the inbox, and accepted',
      'test/page/page.test.ts > cancels a task after asking whether it is meant',
      'test/page/task.test.ts > sends work back and accepts it by keyboard, and shows what each check printed',
      'test/page/task.test.ts > goes on with a larger budget, is edited while it waits, and is deleted after asking whether that is meant',
      'test/page/new-task.test.ts > has an agent make a task of a few words, which is looked at before anything is started',
      'test/page/new-task.test.ts > does the same on the command line: words become a task file, and that becomes a task',
    ],
  },
  'B4-5': {
    means: 'Slots are bounded, the least busy agent that is not limited is chosen, and stale runs are taken over.',
    open: 22,
  },
  'B4-6': {
    means: 'The planning preamble asks for an estimate, subtasks of long work, commits and a summary.',
    shown: [
      'src/engine/tasks/subtasks/planning.test.ts > an agent that plans is asked for an estimate first, and for commits and a summary at the end',
      'src/engine/tasks/subtasks/planning.test.ts > an agent is told of the tool if it takes tools of ours, and of the address if it does not',
    ],
  },
  'B4-7': {
    means: 'Work happens in a clone that is brought back, kept when blocked or failed; uncommitted changes are refused.',
    open: 22,
  },
  'B4-8': {
    means: "A result has a short summary, the agent's own if it wrote one, and browsers are told by push.",
    shown: [
      'test/engine/checks.test.ts > is summed up in its own words',
      "src/domain/task/summary.test.ts > is the agent's own, below a heading of that name, up to the next of its rank",
      'src/domain/task/summary.test.ts > is else the last text, without its header',
      'src/domain/task/summary.test.ts > is cut at the end of a paragraph, a sentence or a word, and never inside of code',
      'test/page/inbox.test.ts > hears of what it asked for, encrypted for it alone, until it is gone or its sign-in ends',
    ],
  },
} as const satisfies Record<string, Requirement>
