import type { Command } from 'commander'
import type { Cli } from '../cli.ts'

/** What a command's file exports: it describes its arguments and says what to do with them. */
export interface CommandModule {
  define(command: Command, cli: Cli): void
}

export interface CommandEntry {
  readonly summary: string
  /** Loaded only when asked for: every start pays for what it imports. */
  readonly load?: () => Promise<CommandModule>
  readonly commands?: Commands
  readonly group?: string
}
export type Commands = Readonly<Record<string, CommandEntry>>

const add = { summary: 'queue a task and print its id', load: () => import('./add.ts') }
const ls = { summary: 'list tasks, newest first', load: () => import('./ls.ts') }
const show = { summary: 'show one task with its runs and questions', load: () => import('./show.ts') }
const logs = { summary: 'print what happened in a task; -f follows it', load: () => import('./logs.ts') }
const wait = { summary: 'wait until a task comes to rest', load: () => import('./wait.ts') }
const answer = { summary: 'answer a question of a task', load: () => import('./answer.ts') }
const cancel = { summary: 'stop a task', load: () => import('./cancel.ts') }
const retry = { summary: 'queue a task again', load: () => import('./retry.ts') }

/** Every command of `pawl`, in the order of the help. */
export const commands: Commands = {
  run: { summary: 'run one task now and show it live', load: () => import('./run.ts'), group: 'Work' },
  ls: { ...ls, group: 'Work' },
  show: { ...show, group: 'Work' },
  logs: { ...logs, group: 'Work' },
  wait: { ...wait, group: 'Work' },
  answer: { ...answer, group: 'Work' },
  cancel: { ...cancel, group: 'Work' },
  retry: { ...retry, group: 'Work' },
  task: {
    summary: 'add, ls, show, logs, wait, answer, cancel, retry',
    commands: { add, ls, show, logs, wait, answer, cancel, retry },
    group: 'Work',
  },
  session: {
    summary: 'ls, show, adopt, stop: the conversations with agents',
    commands: {
      ls: { summary: 'list sessions, newest first', load: () => import('./session-ls.ts') },
      show: { summary: 'show one session with its tasks', load: () => import('./session-show.ts') },
      adopt: { summary: 'go on with a conversation begun in the program itself', load: () => import('./session-adopt.ts') },
      stop: { summary: 'stop whatever runs on a session', load: () => import('./session-stop.ts') },
    },
    group: 'Work',
  },
  serve: { summary: 'start the daemon: queue, workers, HTTP', load: () => import('./serve.ts'), group: 'Daemon' },
  stop: { summary: "stop this home's daemon and database", load: () => import('./stop.ts'), group: 'Daemon' },
  agents: { summary: 'list the agents and whether they can work', load: () => import('./agents.ts'), group: 'Setup' },
  doctor: { summary: 'check this machine; --fix repairs what it can', load: () => import('./doctor.ts'), group: 'Setup' },
  init: { summary: 'write a commented pawl.yaml into this folder', load: () => import('./init.ts'), group: 'Setup' },
  trust: { summary: "let this folder's pawl.yaml run things", load: () => import('./trust.ts'), group: 'Setup' },
  config: {
    summary: 'show, schema, path: the settings in force',
    commands: {
      show: { summary: 'print what is in force and from where', load: () => import('./config-show.ts') },
      schema: { summary: 'print the JSON schema of pawl.yaml', load: () => import('./config-schema.ts') },
      path: { summary: 'print where settings are read from', load: () => import('./config-path.ts') },
    },
    group: 'Setup',
  },
}
