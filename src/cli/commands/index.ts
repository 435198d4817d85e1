import type { Commands } from '../parsing/command-table.ts'

const add = { summary: 'queue a task and print its id', load: () => import('./add.ts') }
const ls = { summary: 'list tasks, newest first', load: () => import('./ls.ts') }
const show = { summary: 'show one task with its runs and questions', load: () => import('./show.ts') }
const logs = { summary: 'print what happened in a task, or in all; -f follows', load: () => import('./logs.ts') }
const wait = { summary: 'wait until tasks come to rest', load: () => import('./wait.ts') }
const answer = { summary: 'answer a question of a task', load: () => import('./answer.ts') }
const cancel = { summary: 'stop a task', load: () => import('./cancel.ts') }
const retry = { summary: 'queue a task again', load: () => import('./retry.ts') }
const resume = { summary: 'let a parked task go on now', load: () => import('./task-resume.ts') }
const accept = { summary: 'accept work that is in review', load: () => import('./accept.ts') }
const reject = { summary: 'send work that is in review back with a comment', load: () => import('./reject.ts') }

const rm = { summary: 'delete a task that has ended', load: () => import('./task-rm.ts') }
const artifacts = { summary: 'list and get the files that a task has left', load: () => import('./task-artifacts.ts') }
const edit = { summary: 'change the name, priority or tags of one that waits', load: () => import('./task-edit.ts') }
const diff = { summary: 'print what a task changed in its workspace', load: () => import('./task-diff.ts') }
const elaborate = { summary: 'have an agent make a task file of your words', load: () => import('./task-elaborate.ts') }
const verify = { summary: 'say whether the work of a task is proved', load: () => import('./verify.ts') }

/** Every command of `pawl`, in the order of the help. */
export const commands: Commands = {
  run: { summary: 'run one task now and show it live', load: () => import('./run.ts'), group: 'Work' },
  top: { summary: 'show live what needs you and what runs', load: () => import('./top.ts'), group: 'Work' },
  ls: { ...ls, group: 'Work' },
  show: { ...show, group: 'Work' },
  logs: { ...logs, group: 'Work' },
  attach: { summary: 'show a task live and answer what it asks', load: () => import('./attach.ts'), group: 'Work' },
  send: { summary: 'send a message into a conversation', load: () => import('./send.ts'), group: 'Work' },
  wait: { ...wait, group: 'Work' },
  questions: { summary: 'list the questions that wait for an answer', load: () => import('./questions.ts'), group: 'Work' },
  answer: { ...answer, group: 'Work' },
  cancel: { ...cancel, group: 'Work' },
  retry: { ...retry, group: 'Work' },
  verify: { ...verify, group: 'Work' },
  task: {
    summary: 'add, ls, show, logs, diff, artifacts, cancel, retry, resume, accept, reject, edit, rm, …',
    commands: { add, elaborate, ls, show, logs, wait, answer, cancel, retry, resume, accept, reject, diff, edit, artifacts, rm },
    group: 'Work',
  },
  costs: { summary: 'show what was spent', load: () => import('./costs.ts'), group: 'Work' },
  sessions: {
    summary: 'ls, show, adopt, stop: the conversations with agents',
    commands: {
      ls: { summary: 'list sessions, newest first', load: () => import('./sessions-ls.ts') },
      show: { summary: 'show one session with its tasks', load: () => import('./sessions-show.ts') },
      adopt: { summary: 'go on with a conversation begun in the program itself', load: () => import('./sessions-adopt.ts') },
      stop: { summary: 'stop whatever runs on a session', load: () => import('./sessions-stop.ts') },
    },
    group: 'Work',
  },
  schedules: {
    summary: 'add, ls, show, pause, resume, run, edit, rm: tasks that come again',
    commands: {
      add: { summary: 'make a schedule', load: () => import('./schedules-add.ts') },
      ls: { summary: 'list schedules, those that fail in red', load: () => import('./schedules-ls.ts') },
      show: { summary: 'show when one is due next and what came of it', load: () => import('./schedules-show.ts') },
      pause: { summary: 'fire nothing until it is resumed', load: () => import('./schedules-pause.ts') },
      resume: { summary: 'let a paused one go on', load: () => import('./schedules-resume.ts') },
      run: { summary: 'fire one now, out of turn', load: () => import('./schedules-run.ts') },
      edit: { summary: 'change when it is due or what is done', load: () => import('./schedules-edit.ts') },
      rm: { summary: 'remove one with its history', load: () => import('./schedules-rm.ts') },
    },
    group: 'Work',
  },
  quarantine: {
    summary: 'ls, restore: what was moved out of workspaces because it would run',
    commands: {
      ls: { summary: 'list what is in quarantine', load: () => import('./quarantine-ls.ts') },
      restore: { summary: 'put it back', load: () => import('./quarantine-restore.ts') },
    },
    group: 'Work',
  },
  workspace: {
    summary: "ls, rm: the folders of Pawl's own in which tasks work",
    commands: {
      ls: { summary: 'list them with their sizes', load: () => import('./workspace-ls.ts') },
      rm: { summary: 'remove one for good', load: () => import('./workspace-rm.ts') },
    },
    group: 'Work',
  },
  notifications: {
    summary: 'ls, retry, test, browsers: what others are told of tasks',
    commands: {
      ls: { summary: 'list what was sent, waits or was given up', load: () => import('./notifications-ls.ts') },
      retry: { summary: 'send what was given up once more', load: () => import('./notifications-retry.ts') },
      test: { summary: 'send a made-up one now', load: () => import('./notifications-test.ts') },
      browsers: { summary: 'list the browsers of yours that are told', load: () => import('./notifications-browsers.ts') },
    },
    group: 'Work',
  },
  replay: { summary: 'run a recorded run again, without a provider', load: () => import('./replay.ts'), group: 'Work' },
  fork: { summary: 'go on from a recorded call with another model', load: () => import('./fork.ts'), group: 'Work' },
  recording: {
    summary: 'ls, show, export, rm: what was asked of models in recorded runs',
    commands: {
      ls: { summary: 'list recorded runs, newest first', load: () => import('./recording-ls.ts') },
      show: { summary: 'show the calls of one', load: () => import('./recording-show.ts') },
      export: { summary: 'print one as a file that model-server reads', load: () => import('./recording-export.ts') },
      rm: { summary: 'remove one for good', load: () => import('./recording-rm.ts') },
    },
    group: 'Work',
  },
  'model-server': {
    summary: 'answer as a model did in a recording, for tests',
    load: () => import('./model-server.ts'),
    group: 'Work',
  },
  acp: { summary: 'let an editor drive an agent (Agent Client Protocol)', load: () => import('./acp.ts'), group: 'Daemon' },
  mcp: { summary: 'let other programs hand in tasks (Model Context Protocol)', load: () => import('./mcp.ts'), group: 'Daemon' },
  serve: { summary: 'start the daemon: queue, workers, HTTP', load: () => import('./serve.ts'), group: 'Daemon' },
  worker: { summary: 'take tasks from a database and run them here', load: () => import('./worker.ts'), group: 'Daemon' },
  stop: {
    summary: "stop this home's daemon and database; --all-agents every agent",
    load: () => import('./stop.ts'),
    group: 'Daemon',
  },
  resume: { summary: 'let the queue go on after stop --all-agents', load: () => import('./resume.ts'), group: 'Daemon' },
  service: {
    summary: 'install, uninstall, status: have the daemon started at login',
    commands: {
      install: { summary: 'write the systemd unit or launchd file and start it', load: () => import('./service-install.ts') },
      uninstall: { summary: 'stop it and remove the file', load: () => import('./service-uninstall.ts') },
      status: { summary: 'say whether it is there and runs', load: () => import('./service-status.ts') },
    },
    group: 'Daemon',
  },
  a2a: {
    summary: 'card: how other agents reach yours',
    commands: { card: { summary: 'show a card and where to connect', load: () => import('./a2a-card.ts') } },
    group: 'Daemon',
  },
  open: { summary: 'open the daemon’s page in a browser, signed in', load: () => import('./open.ts'), group: 'Daemon' },
  'sign-in': { summary: 'print an address that signs a browser in', load: () => import('./sign-in.ts'), group: 'Daemon' },
  user: {
    summary: 'ls, add, set, rm: who may come in, and what they may do',
    commands: {
      ls: { summary: 'list users', load: () => import('./user-ls.ts') },
      add: { summary: 'let somebody in', load: () => import('./user-add.ts') },
      set: { summary: 'change what a user may do', load: () => import('./user-set.ts') },
      rm: { summary: 'remove a user and end their tokens', load: () => import('./user-rm.ts') },
    },
    group: 'Daemon',
  },
  token: {
    summary: 'ls, create, revoke: what lets them in',
    commands: {
      ls: { summary: 'list tokens and signed-in browsers', load: () => import('./token-ls.ts') },
      create: { summary: 'make a token and print it this once', load: () => import('./token-create.ts') },
      revoke: { summary: 'end a token', load: () => import('./token-revoke.ts') },
    },
    group: 'Daemon',
  },
  audit: {
    summary: 'ls, verify: who did what, in a chain of hashes',
    commands: {
      ls: { summary: 'list what was done, newest first', load: () => import('./audit-ls.ts') },
      verify: { summary: 'check that nothing was changed or removed', load: () => import('./audit-verify.ts') },
    },
    group: 'Daemon',
  },
  limits: {
    summary: 'ls, clear: accounts of model providers that are at their limit',
    commands: {
      ls: { summary: 'list them, until when, and who waits', load: () => import('./limits-ls.ts') },
      clear: { summary: 'forget the limit of an agent’s account', load: () => import('./limits-clear.ts') },
    },
    group: 'Work',
  },
  backup: {
    summary: 'write everything into one file; ls, verify',
    load: () => import('./backup.ts'),
    commands: {
      ls: { summary: 'list the backups in the folder for them', load: () => import('./backup-ls.ts') },
      verify: { summary: 'check every hash in a backup', load: () => import('./backup-verify.ts') },
    },
    group: 'Daemon',
  },
  export: { summary: 'print everything as JSON lines', load: () => import('./export.ts'), group: 'Daemon' },
  import: { summary: 'take in what export has printed', load: () => import('./import.ts'), group: 'Daemon' },
  restore: { summary: 'put a backup into an empty home', load: () => import('./restore.ts'), group: 'Daemon' },
  agents: { summary: 'list the agents and whether they can work', load: () => import('./agents.ts'), group: 'Setup' },
  models: { summary: 'list the models and who serves them', load: () => import('./models.ts'), group: 'Setup' },
  doctor: { summary: 'check this machine; --fix repairs what it can', load: () => import('./doctor.ts'), group: 'Setup' },
  init: { summary: 'write a commented pawl.yaml into this folder', load: () => import('./init.ts'), group: 'Setup' },
  trust: { summary: "let this folder's pawl.yaml run things", load: () => import('./trust.ts'), group: 'Setup' },
  profile: {
    summary: 'ls, show, explain: what runs may see and do',
    commands: {
      ls: { summary: 'list the profiles, narrowest first', load: () => import('./profile-ls.ts') },
      show: { summary: 'show one profile with every setting decided', load: () => import('./profile-show.ts') },
      explain: { summary: 'say which rule decides about a tool call', load: () => import('./profile-explain.ts') },
    },
    group: 'Setup',
  },
  'mcp-servers': {
    summary: 'ls, show, test, add, rm, sign-in: your servers of tools (MCP)',
    commands: {
      ls: { summary: 'list the servers and how they are', load: () => import('./mcp-servers-ls.ts') },
      show: { summary: 'show one server with its tools and its last error', load: () => import('./mcp-servers-show.ts') },
      test: { summary: 'start or reach a server now, as a run would', load: () => import('./mcp-servers-test.ts') },
      add: { summary: 'add a server to the settings', load: () => import('./mcp-servers-add.ts') },
      rm: { summary: 'take a server out of the settings', load: () => import('./mcp-servers-rm.ts') },
      'sign-in': { summary: 'sign in at a server that asks for OAuth', load: () => import('./mcp-servers-sign-in.ts') },
    },
    group: 'Setup',
  },
  skill: {
    summary: 'ls: instructions and scripts that runs can be given',
    commands: { ls: { summary: 'list the skills and what is wrong with them', load: () => import('./skill-ls.ts') } },
    group: 'Setup',
  },
  subagent: {
    summary: 'ls: helpers that agents can be given',
    commands: { ls: { summary: 'list the subagents and what is wrong with them', load: () => import('./subagent-ls.ts') } },
    group: 'Setup',
  },
  secret: {
    summary: 'set, ls, rm, rekey: what runs are given and nobody is shown',
    commands: {
      set: { summary: 'store a secret, read from standard input', load: () => import('./secret-set.ts') },
      ls: { summary: 'list the names of the secrets', load: () => import('./secret-ls.ts') },
      rm: { summary: 'remove a secret for good', load: () => import('./secret-rm.ts') },
      rekey: { summary: 'seal all secrets with a new key', load: () => import('./secret-rekey.ts') },
    },
    group: 'Setup',
  },
  config: {
    summary: 'show, set, unset, undo, reload, check, schema, path: the settings in force',
    commands: {
      show: { summary: 'print what is in force and from where', load: () => import('./config-show.ts') },
      set: { summary: 'change a setting of the home, checked first', load: () => import('./config-set.ts') },
      unset: { summary: 'take a setting out again', load: () => import('./config-unset.ts') },
      undo: { summary: 'undo the last change', load: () => import('./config-undo.ts') },
      reload: { summary: 'have the daemon take up what was written by hand', load: () => import('./config-reload.ts') },
      check: { summary: 'tell what is wrong with a settings file', load: () => import('./config-check.ts') },
      schema: { summary: 'print the JSON schema of pawl.yaml', load: () => import('./config-schema.ts') },
      path: { summary: 'print where settings are read from', load: () => import('./config-path.ts') },
    },
    group: 'Setup',
  },
  completion: { summary: 'print what a shell needs to complete words', load: () => import('./completion.ts'), group: 'Setup' },
  version: { summary: 'print the version', load: () => import('./version.ts'), group: 'Setup' },
  help: { summary: 'say more about a command', load: () => import('./help.ts'), group: 'Setup' },
}
