import type { Requirement } from './requirement.ts'

/** S2 and W2: guarded runs with profiles, walls, skills, guardrails and checkpoints. */
export const agentCore = {
  // How a run is judged
  'S2-1': {
    means: "The agent's own `request_status` header is read; tool errors alone do not decide.",
    shown: [
      'src/domain/task/agent-header.test.ts > counts in any case, with quotes and marks, and only as one of the three',
      'test/engine/checks.test.ts > lowers the outcome, and then nothing is checked',
      'test/contracts/real-program.ts > cannot write outside its walls, says so, and goes on',
    ],
  },
  'S2-2': {
    means: 'Complete, partial, failed and error each have an outcome; an unexpected throw is one too.',
    shown: [
      'src/domain/task/agent-header.test.ts > lowers to partial or failed, with its own words',
      'src/domain/task/agent-header.test.ts > changes nothing if it is complete, unclear or missing',
      'test/engine/checks.test.ts > lowers the outcome, and then nothing is checked',
      'test/engine/run.test.ts > that breaks inside Pawl ends as internal, with a plain sentence for the user and the trace in the log',
    ],
  },
  'S2-3': {
    means: 'The header is a block of keys at the start or end of the text; "none" and the like are empty.',
    shown: [
      'src/domain/task/agent-header.test.ts > is a block between lines of dashes at the beginning or at the end of the text',
      'src/domain/task/agent-header.test.ts > says nothing where a placeholder stands',
    ],
  },

  // Models through the gateway
  'S2-4': {
    means: 'A model listed in the config is reached through the gateway, at an address that names the session.',
    shown: [
      'test/real-agents/gateway.test.ts > uses its tools, and the provider is shown the key and its own name for the model',
      'src/engine/endpoint/endpoint.test.ts > serves the models of the run that holds it under both prefixes, and leaves it to them who is let in',
    ],
  },
  'S2-5': {
    means: 'A model that is not listed goes direct where allowed; an undefined provider is warned about.',
    shown: [
      'test/real-agents/gateway.test.ts > is served its own model by the gateway, byte for byte in its own format',
      'src/engine/models/routing.test.ts > lead to the own endpoint of an agent for all that is not listed',
      'src/config/models.test.ts > %s is refused',
    ],
  },
  'S2-6': {
    means: '`:mode=thinking` turns thinking on; the provider sees the base name, our records the full one.',
    shown: [
      'test/real-agents/gateway.test.ts > the real claude thinks where its model says :mode=thinking; its provider sees the plain name, and our records have the whole one',
    ],
  },

  // A profile is mandatory
  'S2-7': {
    means: "A program's own bypass mode beside the profile is refused, with the reason.",
    shown: ['test/real-agents/rules.test.ts > options of an agent do not go past the rules'],
  },
  'S2-8': {
    means: 'No run without a resolved profile; its decisions are events.',
    shown: [
      'test/engine/profile-runs.test.ts > says which profile that is when it starts and in its record, and what was refused by it',
      'test/engine/profile-record.test.ts > what was in force is told for each run, and kept once for all that had the same',
      'test/engine/profile-choice.test.ts > a task may name a profile of the daemon, which is stored whole with it',
      'src/domain/profile/profile.test.ts > an agent without a copy of its profile has the built-in one that it names',
      'src/engine/rights/permissions.test.ts > refusals, and what a person allowed, are told to the journal',
    ],
  },

  // Mounts the agent is told of
  'S2-9': {
    means: 'Mounts are named and described to the agent; a bad entry is skipped and fails no run.',
    shown: [
      'test/engine/profile-runs.test.ts > tells the agent what is mounted, by name and description',
      'src/domain/profile/profile.test.ts > a mount of the user and an alias are told as such',
      'src/engine/rights/mounts.test.ts > an optional mount that cannot be shown is left out with its reason, whatever it is, and the others are there',
      'test/engine/task-mounts.test.ts > a user has theirs under every profile: the persistent one is made and writable at its own path, what is missing is left out',
    ],
  },
  'S2-10': {
    means: 'An original path is listed once; the first source wins.',
    shown: [
      'src/domain/profile/profile.test.ts > a path is mounted once: the own mount replaces that of the base, and twice in one profile is refused',
      'src/domain/profile/profile.test.ts > mounts are told to the agent',
    ],
  },

  // Skills
  'S2-11': {
    means: "Each run sees the global and its user's skills, the user's winning; one bad skill is a warning.",
    shown: [
      'src/engine/skills/find-skills.test.ts > of everybody and of the user are found, the own ones win, and nobody sees those of another',
      'src/engine/skills/find-skills.test.ts > each bad one is listed with what is wrong, and the good one stays',
      'src/engine/skills/run-skills.test.ts > is what its profile names, in one folder that is mounted read-only',
    ],
  },
  'S2-12': {
    means: "No user sees another's skills, nor the agent's own configuration from inside the walls.",
    shown: [
      'src/engine/skills/find-skills.test.ts > of everybody and of the user are found, the own ones win, and nobody sees those of another',
      'test/real-agents/skills.test.ts > tells its model of the skills that the profile names, and of none that a repository brings or another user has',
      'test/engine/strict-tools.test.ts > shows nothing of the program’s own configuration, neither to commands nor to tools that read',
      "test/engine/run.test.ts > cannot read our home, and its prompt is in nobody's arguments",
    ],
  },
  'S2-13': {
    means: 'The skill tool and project settings are there only when skills are on.',
    open: 22,
  },
  'S2-14': {
    means: 'Skills that are scripts are served as tools only inside walls; those that are text always work.',
    shown: [
      'test/real-agents/skills.test.ts > calls a skill that is a script as a tool, and it is run inside the walls',
      'src/engine/skills/run-skills.test.ts > without walls lies where it is, and scripts are left out with one warning',
    ],
  },

  // Tools and permissions
  'S2-15': {
    means: 'From the profile follow which tools are free, asked for, or absent; resolved for each run.',
    shown: [
      'test/real-agents/rules.test.ts > the real %s is refused a command by a rule, told why, and ended after the third',
      'test/real-agents/rules.test.ts > the real %s asks about commands that only look, and what no rule is about is done',
      'test/real-agents/rules.test.ts > the real claude does not read a file that a rule denies, though it asks nobody by itself',
    ],
  },
  'S2-16': {
    means: 'Our own file, search, fetch, shell and ask tools stand in for native ones, for subagents as well.',
    shown: [
      'test/real-agents/strict.test.ts > the real claude works under strict with our tools, and a person is asked about its commands',
      "test/real-agents/strict.test.ts > a subagent of the real claude has our tools, and of the program's own none but that for subagents",
      'test/engine/strict-tools.test.ts > offers our tools instead of those of the program, and what they do is done in the workspace',
    ],
  },
  'S2-17': {
    means: 'SSH tools exist only when the profile has hosts for them.',
    shown: [
      'src/tools/run-tools.test.ts > is nothing more where programs have their own tools, unless other machines are named',
      'src/tools/ssh/ssh-tools.test.ts > run a command there and write down that they did; the key does not stay',
      'src/tools/ssh/ssh-tools.test.ts > go by a denial of the profile',
    ],
  },
  'S2-18': {
    means: "The profile's subagents replace the built-in ones or switch them off.",
    shown: [
      'test/real-agents/skills.test.ts > of a profile take the place of those that the real claude brings',
      'test/real-agents/skills.test.ts > has no skills and no subagents where the profile has none',
    ],
  },
  'S2-19': {
    means: 'Denials are counted per run; one that interrupts ends it as `denied` with its text.',
    shown: [
      'test/engine/profile-runs.test.ts > ends as denied, with the refusal as its text, when one too many of its calls is refused, and the next run counts anew',
      'src/engine/rights/permissions.test.ts > three refusals of one tool end the run, and the one before warns',
      'src/engine/rights/permissions.test.ts > six refusals in all end the run',
    ],
  },
  'S2-20': {
    means: 'Permission answers carry a sentence on what the walls allow.',
    shown: [
      'src/engine/rights/permissions.test.ts > what is allowed is allowed, and a refusal says which rule, what else is possible, and what the sandbox is',
      'src/engine/rights/permissions.test.ts > the sandbox is told as it is, under our own names too, and only for tools that touch it',
      'src/tools/run-tools.test.ts > goes by its rules: what is allowed, what is asked about, and what is denied by where it really leads',
    ],
  },
  'S2-21': {
    means: 'That a conversation was compacted is an event.',
    shown: [
      'src/agents/claude-code/transcripts.test.ts > %s',
      'src/agents/codex/conversation.test.ts > thinking, searching and a shortened history are told once each',
    ],
  },

  // Walls and paths
  'S2-22': {
    means: "The agent works in the workspace and cannot see Pawl's logs or store.",
    shown: [
      'test/engine/run.test.ts > works in the workspace of its task, and a retry finds there what the first run left',
      "test/engine/run.test.ts > cannot read our home, and its prompt is in nobody's arguments",
      'src/sandbox/bubblewrap/sandbox.test.ts > our store inside a workspace is hidden although the workspace is not, and the home inside the store is there',
    ],
  },
  'S2-23': {
    means: 'Extra directories: relative ones from the workspace, absolute ones as they are.',
    shown: [
      'test/engine/task-fields.test.ts > sees relative folders from its workspace, absolute ones as they are',
      'src/config/profiles.test.ts > mounts and directories are seen from the file that names them',
    ],
  },
  'S2-24': {
    means: 'Environment comes from global, then user settings; only names are logged.',
    shown: [
      'test/engine/profile-runs.test.ts > has the variables of every run, those of its user over them, and no value of either is logged',
      'src/config/profiles.test.ts > variables of every run lie under the profile, those of a user are kept apart, and values are never shown',
      'src/cli/profile.test.ts > pawl profile show prints every setting and no value of a variable',
    ],
  },
  'S2-25': {
    means: 'Without walls the run says so; with a uid given, privileges are dropped; missing mounts are named.',
    open: 22,
  },
  'S2-26': {
    means: 'Only authorised mounts exist inside, at the same paths, read-only before writable.',
    shown: [
      'test/engine/profile-runs.test.ts > sees the mounts of the profile at their own paths, read-only or writable, a persistent one from task to task, and nothing beside them',
      'src/sandbox/bubblewrap/view.test.ts > the programs and settings of the machine, and nothing else of it',
      'src/sandbox/bubblewrap/view.test.ts > one path that is asked for twice is laid once, writable if anybody asked for that',
      'src/engine/rights/mounts.test.ts > mounts are ready as real places; optional ones that are missing are told; persistent ones are made',
    ],
  },
  'S2-27': {
    means: "A user's persistent directory is writable at its own path.",
    shown: [
      'test/engine/task-mounts.test.ts > a user has theirs under every profile: the persistent one is made and writable at its own path, what is missing is left out',
      'test/engine/task-mounts.test.ts > nobody has those of another',
    ],
  },
  'S2-28': {
    means: 'Mounts named with a task have base, subpath, alias and mode.',
    shown: [
      'test/engine/task-mounts.test.ts > a task names a part of what the settings offer, by base, part, alias and mode, and sees it at its own path and at the alias',
      'test/engine/task-mounts.test.ts > %s is refused',
      'test/engine/task-mounts.test.ts > a base of others is not even told of, and hooks name none',
    ],
  },
  'S2-29': {
    means: 'A host path may be mounted under its original name; it is bound once per mode.',
    shown: [
      'src/sandbox/bubblewrap/view.test.ts > a mount is seen where it was asked for, read-only or writable, and a file is mounted like a folder',
      'src/sandbox/bubblewrap/view.test.ts > one path that is asked for twice is laid once, writable if anybody asked for that',
    ],
  },
  'S2-30': {
    means: 'Path rules stand before any tool does, or the run does not start; files get the right owner.',
    shown: [
      "src/engine/endpoint/endpoint.test.ts > is nobody's if the tools of the run cannot be made, and says why",
      'src/tools/strict/strict.test.ts > is nothing where a root is missing',
      'src/tools/strict/strict.test.ts > what is written belongs to that user, folders too',
    ],
  },
  'S2-31': {
    means: 'Output shows the paths the user knows.',
    shown: [
      'test/engine/task-mounts.test.ts > what the agent says of a place inside is shown as the place that the user knows',
      'src/domain/profile/shown-paths.test.ts > %s is shown as %s',
      'src/tools/strict/strict.test.ts > answers with what a command printed and how it ended, in paths that the user knows',
    ],
  },

  // Prompts from templates
  'S2-32': {
    means: 'A system prompt is given or rendered with role, model, rules and mounts; an empty one is an error.',
    shown: [
      'test/engine/program-runs.test.ts > a role is a template with what holds for the run, the one of the task before the one of the agent',
      'test/engine/program-runs.test.ts > the configured system prompt stands in for a file that is gone, and a file that is there is read for each run',
      'src/domain/base/template.test.ts > %j is refused',
    ],
  },
  'S2-33': {
    means: 'A task prompt may come from a template; empty task, missing template, empty result are errors.',
    shown: [
      'test/engine/program-runs.test.ts > a task is put into a template with where it works and its context, before anything is made',
    ],
  },

  // The run
  'S2-34': {
    means: 'Every run has a time limit: its own, else the configured one, else 24 h (the original had 1800 s).',
    shown: [
      'src/config/config.test.ts > without any file the defaults and the built-in agents are in force',
      'test/engine/time.test.ts > a run that exceeds its time is stopped and keeps what it said',
    ],
  },
  'S2-35': {
    means: 'A session is named by the caller or made; a session home that exists already is no error.',
    shown: [
      'test/contracts/real-program.ts > answers, and its session goes on in the next task',
      'test/engine/session-verbs.test.ts > lends its agent and its workspace to a task that names neither',
      'test/engine/session-verbs.test.ts > that is not there is refused in a sentence',
    ],
  },
  'S2-36': { means: 'Resume only with files, else say so and start fresh; a session can be forked.', open: 28 },
  'S2-37': {
    means: 'Files that a program crashes without are seeded into its home.',
    shown: [
      'src/sandbox/files/home-files.test.ts > are written with their folders, closed to others, and replace what was there',
      'src/agents/codex/command.test.ts > a home below the folder for temporary files gets another one of its own',
      'test/real-agents/claude-code-adapter.test.ts > it answers under the id it was given, warm for the next turn, and can be resumed by another process',
      'test/real-agents/codex-adapter.test.ts > %s: it answers, tells what it used, and can be resumed by another process',
    ],
  },
  'S2-38': {
    means: 'Each session has its own home for the program.',
    shown: [
      'src/agents/claude-code/command.test.ts > a bare run speaks the protocol, reads no settings that an agent could have written, and leaves retries to us',
      'src/agents/codex/command.test.ts > the program that was probed is started as app-server, and the prompt is nowhere in sight',
      'test/contracts/real-program.ts > goes on after its session files were deleted: they are put back',
      'test/real-agents/warm.test.ts > does not serve another session',
    ],
  },
  'S2-39': {
    means: 'Each message is stored first, then shown, then judged by the guardrails.',
    shown: [
      'test/engine/money.test.ts > an agent whose tool fails the same way again and again is stopped, and its words and cost are kept',
    ],
  },
  'S2-40': {
    means: 'Guardrail limits depend on the model and are configurable.',
    shown: [
      'src/engine/guardrails/breaker.test.ts > 0 switches a guardrail off, and a model has numbers of its own as soon as it is known',
      'test/engine/money.test.ts > guardrails are set for models by pattern',
    ],
  },
  'S2-41': {
    means: 'A tripped breaker ends the run as `tripped`, with its event, its subagents closed, its figures kept.',
    shown: [
      'test/engine/money.test.ts > an agent whose tool fails the same way again and again is stopped, and its words and cost are kept',
      'test/real-agents/money.test.ts > the real claude whose tool fails the same way five times is stopped, with what it said and cost',
    ],
  },
  'S2-42': {
    means: 'No result, an error result and a turn limit are three different failures.',
    shown: [
      'src/agents/claude-code/conversation.test.ts > an end without a result after "%s" is %s',
      'src/agents/claude-code/verdict.test.ts > an error is never the answer, and what was said before it is kept',
      'test/real-agents/claude-code-adapter.test.ts > turns and money are held to, and the run says which it was',
    ],
  },
  'S2-43': {
    means: 'Turns are shown without mere todo updates, and never below 0.',
    shown: ['test/engine/money.test.ts > keeping a list of things to do is told of, and no turn that is shown'],
  },
  'S2-44': {
    means: 'Exactly one final event; it carries the totals of all runs, shown from the start on resume.',
    shown: [
      'test/engine/money.test.ts > the last event of a task carries the totals of all its runs, and a run that goes on says from its start what they were so far',
      'src/cli/text/render.test.ts > the end of a task says what all its runs came to, and a run that goes on what there was before it',
      'src/surfaces/http/sse.test.ts > until=rest ends with the resting event that nothing follows',
    ],
  },
  'S2-45': {
    means: 'A failure event says which kind it is: breaker, denial, agent error, timeout, other.',
    shown: [
      'src/engine/base/retry.test.ts > a task that has failed as %s for the last time says so in its last event',
      'src/engine/base/retry.test.ts > a run that ends as %s says what kind of end that is',
    ],
  },
  'S2-46': {
    means: 'Every way out cleans up, and failing to clean up changes no outcome.',
    shown: [
      'test/engine/clean-up.test.ts > leaves neither its key nor what was put into the workspace for it',
      'test/engine/clean-up.test.ts > ends the same way if that fails, and says what was not cleaned up',
      'test/engine/clean-up.test.ts > a run that cannot be prepared leaves the workspace as it was, and says why it could not',
    ],
  },
  'S2-47': {
    means: 'A conversation can be rebuilt in the format of the program itself.',
    shown: [
      'src/agents/claude-code/session-files.test.ts > a rebuilt conversation is one unbroken chain of everything that was said and done',
      'src/agents/codex/session-files.test.ts > a rebuilt conversation lies where the program looks for it',
      'test/real-agents/claude-code-adapter.test.ts > a conversation that is gone is told as such, and goes on when it is rebuilt from what was recorded',
      'test/real-agents/codex-adapter.test.ts > %s: a conversation rebuilt from the journal goes on',
    ],
  },
  'S2-48': {
    means: "The program's stderr is kept line by line.",
    shown: [
      'src/agents/shared/text.test.ts > the messages of a flow are its lines, wherever the bytes were split',
      'src/agents/claude-code/conversation.test.ts > an end without a result after "%s" is %s',
      'src/engine/run/raw-log.test.ts > what a program prints is kept as it is, stdout and stderr apart, for its owner only',
    ],
  },

  // Operations on a session
  'S2-49': { means: 'A session can be compacted; tokens before and after are told.', open: 28 },
  'S2-50': {
    means: 'Checkpoints come after changing tools, by hand and per turn, with turn, tool and file.',
    open: 28,
  },
  'S2-51': { means: 'A rewind restores the files of a checkpoint; later ones are dropped.', open: 28 },
  'S2-52': {
    means: 'A result can be asked for by JSON schema: natively, else validated by us and asked once more.',
    shown: [
      'test/contracts/real-program.ts > answers in the form that was asked for',
      'src/engine/run/structured-output.test.ts > is no success when it is %s, and is kept all the same',
      'test/engine/forgetful-agent.test.ts > is asked once more for an answer that does not have its form',
    ],
  },
  'S2-53': {
    means: 'Partial messages can be followed live and are not stored.',
    shown: [
      'test/real-agents/partial.test.ts > what $agent is saying can be watched while it says it, and only the whole of it is stored',
      'src/engine/journal/live-text.test.ts > is told at most ten times a second, in whole words, and its end is told',
      'src/engine/journal/live-text.test.ts > never shows a part of %s',
      'src/client/client.test.ts > what an agent is saying comes beside its events, in pieces without a number, and goes when its event comes',
    ],
  },

  // Defects
  'W2-1': {
    means: 'A run that times out has its error, its one end, its clean-up, and names the limit in force.',
    shown: ['test/engine/time.test.ts > a run that exceeds its time is stopped and keeps what it said'],
  },
  'W2-2': {
    means: 'A run that fails has its end too, with cost and partial text.',
    shown: [
      'test/engine/program-runs.test.ts > a run that fails keeps what was said, what it used and cost, and how the program ended',
    ],
  },
  'W2-3': {
    means: 'A missing header proves nothing; hard facts outrank what the agent says.',
    shown: [
      'src/domain/task/agent-header.test.ts > changes nothing if it is complete, unclear or missing',
      'test/engine/checks.test.ts > leave a task without them reported',
      'test/engine/checks.test.ts > raises nothing: a program that fails has failed, and so has work whose checks do',
    ],
  },
  'W2-4': {
    means: 'A stop at the turn limit is reported as that, not as a server error.',
    shown: [
      'test/real-agents/claude-code-adapter.test.ts > turns and money are held to, and the run says which it was',
      'test/engine/program-runs.test.ts > a run that fails keeps what was said, what it used and cost, and how the program ended',
    ],
  },
  'W2-5': {
    means: 'A later run of a task or session destroys no earlier log.',
    shown: ['test/engine/run.test.ts > leaves the events and raw logs of an earlier run as they were'],
  },
  'W2-6': {
    means: 'Checkpoints and rules hold whatever name a tool goes by, and the caller gets them.',
    open: 28,
  },
  'W2-7': { means: 'Compact and rewind happen in the session home, under its profile and walls.', open: 28 },
  'W2-8': {
    means: 'The gate asks for the file of this id; any other file does not count.',
    shown: ['test/engine/session-gate.test.ts > a file of another conversation, or a link in its place, is no hit'],
  },
  'W2-9': {
    means: 'A rebuilt conversation has its tool calls, and nothing twice.',
    shown: [
      'test/engine/session-transcript.test.ts > tells the tasks of a session in the order in which they ran, with tool calls and answers, and no prompt twice',
      'src/agents/claude-code/session-files.test.ts > a rebuilt conversation is one unbroken chain of everything that was said and done',
      'test/contracts/real-program.ts > is told a conversation of which neither files nor archive are left',
    ],
  },
  'W2-10': {
    means: 'Mounts without walls are refused by name, and not blamed on something else.',
    shown: ['src/engine/rights/mounts.test.ts > without walls a mount at another path is refused by name'],
  },
  'W2-11': {
    means: 'A path asked for both read-only and writable is bound once, and which is said.',
    shown: [
      'src/sandbox/bubblewrap/view.test.ts > one path that is asked for twice is laid once, writable if anybody asked for that',
      'src/domain/profile/profile.test.ts > a path is mounted once: the own mount replaces that of the base, and twice in one profile is refused',
      'test/engine/profile-runs.test.ts > tells the agent what is mounted, by name and description',
    ],
  },
  'W2-12': {
    means: 'A required mount that is missing stops the run before it starts.',
    shown: [
      'test/engine/profile-runs.test.ts > does not start where a required mount is missing, and goes on without an optional one, each by its name',
      'src/engine/rights/mounts.test.ts > a required mount that is missing ends the run, with its name and what to do',
    ],
  },
  'W2-13': {
    means: 'A tripped run keeps its text, turns and cost.',
    shown: [
      'test/engine/money.test.ts > an agent whose tool fails the same way again and again is stopped, and its words and cost are kept',
      'test/real-agents/money.test.ts > the real claude whose tool fails the same way five times is stopped, with what it said and cost',
    ],
  },
  'W2-14': {
    means: 'Rate limits are retried, cost has a ceiling, and a user can cancel.',
    shown: [
      'test/engine/weeks/limits.test.ts > an overloaded provider is asked by one task at a time, less and less often, and by all when it answers',
      'src/engine/base/retry.test.ts > waits for the time the provider named when that is later',
      'test/engine/money.test.ts > a task that has used up its budget is stopped, keeps what it said and cost, and goes on with a raised cap',
      'test/engine/run.test.ts > ends a cancelled task with grace, and everything it started',
    ],
  },
  'W2-15': {
    means: "One run's permissions never reach another that runs beside it.",
    shown: [
      'test/engine/profile-runs.test.ts > has its own rules and no other, whatever runs beside it',
      'src/engine/rights/permissions.test.ts > two runs share nothing',
    ],
  },
  'W2-16': {
    means: 'Tool inputs are redacted before they are logged; names are checked before they become paths.',
    shown: [
      'test/engine/profile-runs.test.ts > has no secret of a tool call in its events or in the log, neither where it is called nor where it is refused',
      'test/engine/profile-runs.test.ts > is nobody’s whose name could be a path',
      'test/engine/session-archive.test.ts > an id that the program does not give is never part of a path',
    ],
  },
  'W2-17': {
    means: 'What is not enforced is never called enforced.',
    shown: [
      'src/engine/rights/sandbox-policy.test.ts > what is not enforced is not claimed to an agent that was refused something',
      'src/domain/profile/profile.test.ts > without walls nothing is said to be read-only',
      'test/e2e/without-bubblewrap.test.ts > whoever names the profile without walls is served, and told in every place that nothing is enforced',
    ],
  },
  'W2-18': {
    means: "Runs side by side do not break each other's skills.",
    shown: [
      'src/engine/skills/run-skills.test.ts > is one for the same skills, however many runs begin at once, and another for changed ones, which leaves the first as it was',
    ],
  },
  'W2-19': {
    means: 'A message that cannot be stored as it is does not kill the run.',
    shown: ['test/engine/run.test.ts > takes a line of 5 MB, bytes that are not text and a NUL without harm'],
  },
  'W2-20': {
    means: 'A rewind really restores, shell changes included: checkpoints are our own snapshots.',
    open: 28,
  },
} as const satisfies Record<string, Requirement>
