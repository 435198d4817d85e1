import { createHash } from 'node:crypto'
import type { Command } from 'commander'
import { invalid } from '../../domain/error.ts'
import type { ScheduleView } from '../../domain/schedule/schedule.ts'
import type { NewTasks } from '../../domain/view/view.ts'
import type { TaskFile } from '../../task-file/read.ts'
import { type Connection, withConnection } from '../connecting/connect.ts'
import {
  agentOf,
  askedOf,
  assertOnePlace,
  createTask,
  defineTask,
  sayQueued,
  sayWarning,
  type TaskOptions,
  taskRequest,
  workspaceOf,
} from '../requests/task-request.ts'
import type { Cli } from '../terminal/cli.ts'
import { readStdin } from '../terminal/stdin.ts'

interface AddOptions extends TaskOptions {
  file?: string
  key?: string
  idempotent?: boolean
  schedule?: string
  tz?: string
}

export function define(command: Command, cli: Cli): void {
  defineTask(command.description('Queue a task for the daemon and print its id; or all tasks of a file.'))
    .optionsGroup('From a file:')
    .option('-f, --file <file>', 'YAML or JSON with one or many tasks, made together or not at all; "-" reads stdin')
    .option('--key <key>', 'asking again with this key gives the same tasks')
    .option('--idempotent', 'with --file: a key made of the content of the file')
    .optionsGroup('Again and again:')
    .option('--schedule <when>', 'make a schedule instead: "0 7 * * 1-5", "every 2h", "at 2026-05-01 09:00", "idle 30m"')
    .option('--tz <zone>', 'with --schedule: whose clocks count, as in Europe/Berlin')
    .addHelpText('after', examples)
    .action((words: string[], options: AddOptions) =>
      options.file === undefined ? add(cli, words, options) : addFile(cli, words, { ...options, file: options.file }),
    )
}

const examples = `
Examples
  pawl task add --name nightly --priority low --budget-usd 2 "update the dependencies"
  pawl task add --depends-on 4k2x --check "npm test" "and now the tests"
  pawl task add -f tasks.yaml --idempotent

In a file, tasks may depend on each other by name:
  - {name: build, prompt: make it build}
  - {name: test, prompt: make the tests pass, depends_on: [build], checks: [npm test]}
docs/tasks.md has every key.`

async function add(cli: Cli, words: string[], options: AddOptions): Promise<void> {
  if (options.idempotent) throw invalid('--idempotent needs --file; for one task name a key of your own with --key.')
  if (options.schedule === undefined && options.tz !== undefined) throw invalid('--tz needs --schedule.')
  if (options.schedule !== undefined) {
    const { addSchedule } = await import('./schedules-add.ts')
    const { parseWhen } = await import('../../config/when.ts')
    return addSchedule(cli, words, options, { when: parseWhen(options.schedule, { timeZone: options.tz }), policies: {} })
  }
  const request = await taskRequest(cli, words, options)
  await withConnection(cli, { work: 'none', isForNewTask: true }, async (connection) => {
    const asked = await askedOf(connection, options, cli.cwd)
    const task = await createTask(connection, { ...request, ...asked, attended: false }, options.key)
    if (cli.globals.json) cli.json(task)
    else cli.out(task.id)
    sayQueued(cli, connection, options.agent === undefined ? task : undefined)
    await sayWarning(cli, connection, task, request)
  })
}

/** What the file does not say itself may be said for all of its tasks. */
const forAll = ['agent', 'profile', 'workspace', 'scratch', 'allowHome']

async function addFile(cli: Cli, words: string[], options: AddOptions & { file: string }): Promise<void> {
  const { file, key, idempotent, ...rest } = options
  if (words.length > 0) throw invalid('With --file the prompts stand in the file; leave the words out.')
  const globals = Object.keys(cli.globals)
  const other = Object.keys(rest).find((name) => !forAll.includes(name) && !globals.includes(name))
  if (other !== undefined)
    throw invalid(
      `With --file, ${flagOf(other)} is said of each task in the file; only ${forAll.map(flagOf).join(', ')} may be given for all.`,
    )
  if (key !== undefined && idempotent) throw invalid('Name one of --key and --idempotent.')
  const { readTaskFile, readTaskText } = await import('../../task-file/read.ts')
  const { maxFileBytes } = await import('../../task-file/source.ts')
  const { tasks, schedules, attachments, source } =
    file === '-'
      ? readTaskText(await readStdin(maxFileBytes), { shown: '<stdin>', folder: cli.cwd })
      : await readTaskFile(cli.cwd, file)
  assertOnePlace(options)
  const workspace = options.workspace === undefined ? undefined : await workspaceOf(cli.cwd, options.workspace)
  await withConnection(cli, { work: 'none', isForNewTask: true }, async (connection) => {
    const whole = await withDefaults(cli, connection, tasks, { ...options, workspace })
    const idempotencyKey = idempotent ? keyOf(cli.cwd, source) : key
    const once: NewTasks['tasks'] = []
    for (const [index, task] of whole.entries()) {
      if (schedules[index] !== undefined) continue
      const files = attachments[index] ?? []
      once.push(files.length === 0 ? task : { ...task, attachments: await attachFiles(cli, connection, files) })
    }
    const isAgain = idempotencyKey !== undefined
    const coming = schedules.some(Boolean) ? await addSchedules(connection, { tasks: whole, schedules, isAgain }) : []
    const made =
      once.length > 0
        ? await connection.runtime.createTasks({ tasks: once }, { by: 'cli', idempotencyKey })
        : { tasks: [], created: true }
    if (cli.globals.json)
      cli.json({ items: made.tasks, created: made.created, ...(coming.length > 0 ? { schedules: coming } : {}) })
    else for (const { id } of [...made.tasks, ...coming]) cli.out(id)
    if (made.created) sayQueued(cli, connection)
    else cli.say('These tasks were there already.')
  })
}

async function attachFiles(cli: Cli, connection: Connection, files: readonly string[]): Promise<string[]> {
  const { attach, filesToAttach } = await import('../connecting/attach.ts')
  return attach(connection, await filesToAttach(cli.cwd, files))
}

/** The schedules come first: whatever is wrong with one of them, no task has been made. */
async function addSchedules(
  connection: Connection,
  file: { tasks: NewTasks['tasks']; schedules: TaskFile['schedules']; isAgain: boolean },
): Promise<ScheduleView[]> {
  const { makeSchedule } = await import('./schedules-add.ts')
  const made: ScheduleView[] = []
  for (const [index, schedule] of file.schedules.entries())
    if (schedule) made.push(await makeSchedule(connection, file.tasks[index]!, schedule, file.isAgain))
  return made
}

async function withDefaults(
  cli: Cli,
  connection: Connection,
  tasks: NewTasks['tasks'],
  given: Pick<AddOptions, 'agent' | 'profile' | 'scratch' | 'allowHome'> & { workspace: string | undefined },
): Promise<NewTasks['tasks']> {
  const here = given.scratch ? undefined : await workspaceOf(cli.cwd, undefined)
  const chosen = new Map<string, Awaited<ReturnType<typeof agentOf>>>()
  const whole: NewTasks['tasks'] = []
  for (const task of tasks) {
    const asked = { agent: task.agent ?? given.agent, profile: task.profile ?? given.profile, session: task.session }
    const name = JSON.stringify([asked.agent, asked.profile, asked.session])
    const agent = chosen.get(name) ?? (await agentOf(connection, definedOnly(asked)))
    chosen.set(name, agent)
    const workspace = task.workspace ?? given.workspace ?? (task.session === undefined ? here : undefined)
    const place = workspace === undefined ? {} : { workspace }
    whole.push({ ...(given.allowHome ? { allowHome: true } : {}), ...task, ...agent, ...place, attended: false })
  }
  return whole
}

const definedOnly = (
  options: { [K in 'agent' | 'profile' | 'session']: string | undefined },
): Pick<TaskOptions, 'agent' | 'profile' | 'session'> =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))

/** The same file from another folder asks for other work. */
const keyOf = (cwd: string, source: string) =>
  `file-${createHash('sha256').update(`${cwd}\0${source}`).digest('hex').slice(0, 40)}`

const flagOf = (name: string) => `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
