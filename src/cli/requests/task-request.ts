import { constants } from 'node:fs'
import { access, readFile, realpath, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { oneOf } from '../../domain/base/one-of.ts'
import { invalid, messageOf, PawlError } from '../../domain/error.ts'
import { maxPromptBytes, priorities, workspaceModes } from '../../domain/task/task.ts'
import { mountForms, writtenMount } from '../../domain/task/written-mount.ts'
import type { NewTask, TaskView } from '../../domain/view/view.ts'
import { attach, filesToAttach } from '../connecting/attach.ts'
import type { Connection } from '../connecting/connect.ts'
import { findSession, sessionName } from '../finding/find-session.ts'
import { findTask } from '../finding/find-task.ts'
import type { Cli } from '../terminal/cli.ts'
import { readStdin } from '../terminal/stdin.ts'
import { oneLine } from '../text/plain.ts'
import { readOutputSchema } from './output-schema.ts'
import { budgetOf, count, duration, planningOf, questionsOf, retryOf, subtasksOf } from './task-caps.ts'
import type { TaskOptions } from './task-options.ts'

export { defineTask, type TaskOptions } from './task-options.ts'

/** Checks what can be checked before anything is made. Everything but the agent and its profile, which the settings decide. */
export async function taskRequest(
  cli: Cli,
  words: string[],
  options: TaskOptions,
): Promise<Omit<NewTask, 'agent' | 'agentConfig' | 'profile' | 'session' | 'dependsOn' | 'parent'>> {
  const { session, outputSchema } = options
  assertSaid('--name', options.name)
  for (const tag of options.tag ?? []) assertSaid('--tag', tag)
  assertStdinOnce(words, options.attach)
  const prompt = await promptOf(words)
  if (session !== undefined) sessionName(session)
  if (options.resetSession && session === undefined)
    throw invalid('--reset-session needs --session ID: a task without one begins a new conversation anyway.')
  // A session goes on where its files are, unless another place is named.
  const isThere = options.scratch || (session !== undefined && options.workspace === undefined)
  assertOnePlace(options)
  const workspace = isThere ? undefined : await workspaceOf(cli.cwd, options.workspace)
  return {
    prompt,
    workspace,
    allowHome: options.allowHome,
    resetSession: options.resetSession,
    outputSchema: outputSchema === undefined ? undefined : await readOutputSchema(cli.cwd, outputSchema),
    workspaceMode: oneOf('--workspace-mode', options.workspaceMode, workspaceModes),
    bringBack: oneOf('--bring-back', options.bringBack, ['branch'] as const),
    model: options.model,
    priority: options.priority === undefined ? undefined : priorityOf(options.priority),
    tags: options.tag,
    timeoutMs: await duration('--timeout', options.timeout),
    extraArgs: options.agentArg,
    name: options.name,
    contextDirs: options.contextDir && (await foldersOf(cli.cwd, options.contextDir)),
    writableDirs: options.writableDir && (await foldersOf(cli.cwd, options.writableDir, '--writable-dir')),
    mounts: options.mount?.map(mountOf),
    allowedTools: options.allowTool,
    disallowedTools: options.disallowTool,
    mcpServers: options.mcpServers === undefined ? undefined : serversOf(options.mcpServers),
    appendSystemPrompt:
      options.appendSystemPrompt && (await textOf(cli.cwd, '--append-system-prompt', options.appendSystemPrompt)),
    role: options.role,
    template: options.template,
    context: options.context && (await textOf(cli.cwd, '--context', options.context)),
    budget: await budgetOf(options),
    retry: await retryOf(options),
    review: options.review,
    record: options.record,
    checks: checksOf(options),
    once: options.once,
    acceptPartial: options.acceptPartial,
    skipPlanning: planningOf(options),
    failover: options.failover?.flatMap((names) => names.split(',')),
    questions: await questionsOf(options),
    subtasks: subtasksOf(options),
  }
}

export function assertOnePlace({ scratch, workspace, session }: TaskOptions): void {
  if (!scratch) return
  if (workspace !== undefined) throw invalid('--scratch and --workspace name two places; leave one of them out.')
  if (session !== undefined)
    throw invalid('A session works where its files are, so --scratch cannot go with --session; leave one of them out.')
}

/** What is read once is not there for the other. */
function assertStdinOnce(words: readonly string[], attached: readonly string[] = []): void {
  if (attached.some((one) => /(^|=)-$/.test(one)) && (words.length === 0 || words.at(-1) === '-'))
    throw invalid('Standard input is attached, so the prompt cannot come from there too; say the prompt in words.')
}

function checksOf({ check, checkAttempts, checks }: TaskOptions): NewTask['checks'] {
  if (checks === false && check !== undefined)
    throw invalid('--no-checks and --check say two things at once; leave one of them out.')
  if (checks === false) return null
  for (const command of check ?? []) assertSaid('--check', command)
  if (check === undefined && checkAttempts !== undefined) throw invalid('--check-attempts needs --check.')
  return check && { commands: check.map((run) => ({ run })), attempts: count('--check-attempts', checkAttempts, 0) ?? 0 }
}

/** Most often a variable of a script that is not set. */
function assertSaid(option: string, value: string | undefined): void {
  if (value?.trim() === '') throw invalid(`The value of ${option} is empty; give one, or leave the option out.`)
}

/** Absolute and there, links followed. */
export const foldersOf = (cwd: string, folders: readonly string[], option = '--context-dir'): Promise<string[]> =>
  Promise.all(folders.map((folder) => workspaceOf(cwd, folder, { called: 'context folder', option })))

function mountOf(written: string): NonNullable<NewTask['mounts']>[number] {
  const mount = writtenMount(written)
  if (!mount) throw invalid(`--mount ${written}: write ${mountForms}.`)
  return mount
}

async function textOf(cwd: string, option: string, given: string): Promise<string> {
  if (!given.startsWith('@')) return given
  const file = resolve(cwd, given.slice(1))
  return readFile(file, 'utf8').catch((error: unknown) => {
    throw invalid(`The file ${file} of ${option} cannot be read: ${messageOf(error)}.`)
  })
}

async function promptOf(words: string[]): Promise<string> {
  const fromStdin = words.length > 0 ? words.at(-1) === '-' : process.stdin.isTTY !== true
  if (words.length === 0 && !fromStdin)
    throw invalid('There is no prompt; say what the agent should do, for example: pawl run "fix the failing test"')
  // Only when asked for: a pipe that somebody holds open and never writes to would keep us waiting for ever.
  const material = fromStdin ? await readStdin(maxPromptBytes) : ''
  const said = (fromStdin ? words.slice(0, -1) : words).join(' ')
  const prompt = [said, material].filter((part) => part.trim() !== '').join('\n\n')
  if (prompt.trim() === '') throw invalid('The prompt is empty; say what the agent should do.')
  if (Buffer.byteLength(prompt) > maxPromptBytes)
    throw invalid(
      `The prompt is longer than ${maxPromptBytes} bytes; put the material into a file of the workspace and point at it.`,
    )
  return prompt
}

export async function workspaceOf(
  cwd: string,
  named: string | undefined,
  { called, option } = { called: 'workspace', option: '--workspace' },
): Promise<string> {
  const path = resolve(cwd, named ?? '.')
  try {
    const real = await realpath(path)
    if (!(await stat(real)).isDirectory()) throw invalid(`The ${called} ${path} is not a folder.`)
    await access(real, constants.R_OK | constants.X_OK)
    return real
  } catch (error) {
    switch ((error as NodeJS.ErrnoException).code) {
      case 'ENOENT':
      case 'ENOTDIR':
        throw invalid(`The ${called} ${path} does not exist; make it first, or name another with ${option}.`)
      case 'EACCES':
      case 'EPERM':
        throw invalid(
          `The ${called} ${path} cannot be read by this user; change its permissions, or name another with ${option}.`,
        )
      default:
        throw error
    }
  }
}

export function priorityOf(level: string): number {
  if (Object.hasOwn(priorities, level)) return priorities[level as keyof typeof priorities]
  const number = /^-?\d{1,3}$/.test(level) ? Number(level) : Number.NaN
  if (!(number >= -100 && number <= 100))
    throw invalid('--priority must be high, normal, low, or a whole number from -100 to 100.')
  return number
}

/** What of a new task is found out by asking the engine: its agent, the tasks that it names, and the files that it is given. */
export async function askedOf(
  connection: Connection,
  options: TaskOptions,
  cwd: string,
): Promise<Pick<NewTask, 'agent' | 'agentConfig' | 'profile' | 'session' | 'dependsOn' | 'parent' | 'attachments'>> {
  const { runtime } = connection
  const { dependsOn, parent } = options
  const files = options.attach && (await filesToAttach(cwd, options.attach))
  return {
    ...(await agentOf(connection, options)),
    ...(dependsOn === undefined ? {} : { dependsOn: await Promise.all(dependsOn.map(found)) }),
    ...(parent === undefined ? {} : { parent: await found(parent) }),
    ...(files === undefined ? {} : { attachments: await attach(connection, files) }),
  }

  function found(named: string): Promise<string> {
    return findTask(runtime, named).catch(asUsage)
  }
}

/** What is not found was named on the command line, so it is a mistake of usage. */
function asUsage(error: unknown): never {
  throw error instanceof PawlError && error.code === 'not_found' ? invalid(error.message) : error
}

/** The session of a new task, if one was named, and its agent: the one that was named, else that of the session it goes on with, else as the settings say. */
export async function agentOf(
  { runtime, chooseAgent }: Pick<Connection, 'runtime' | 'chooseAgent'>,
  { agent, session, profile }: Pick<TaskOptions, 'agent' | 'session' | 'profile'>,
): Promise<Pick<NewTask, 'agent' | 'agentConfig' | 'profile' | 'session'>> {
  if (session === undefined) return chooseAgent(agent, profile)
  const id = await findSession(runtime, session).catch(asUsage)
  const named = agent ?? (await runtime.getSession(id).catch(asUsage)).agent
  return { ...(await chooseAgent(named, profile)), session: id }
}

export async function createTask({ runtime }: Connection, request: NewTask, idempotencyKey?: string): Promise<TaskView> {
  return (await runtime.createTask(request, { by: 'cli', idempotencyKey }).catch(asUsage)).task
}

/** What runs a task that was only queued, and which agent does it if nobody named one. */
export function sayQueued(cli: Cli, connection: Connection, unnamed?: TaskView): void {
  const agent = unnamed && !cli.globals.json ? ` for "${oneLine(unnamed.agent)}"` : ''
  if (!connection.isDaemon) cli.say(`Queued${agent}. No daemon is running: "pawl serve" will run it.`)
  else if (agent !== '') cli.say(`Queued${agent}.`)
}

/** What its first event warns of, for those who do not watch it: a budget that is too small. Nothing else is warned of, so without a budget nobody is asked. */
export async function sayWarning(
  cli: Cli,
  { runtime }: Connection,
  task: TaskView,
  { budget }: Pick<NewTask, 'budget'>,
): Promise<void> {
  if (budget === undefined) return
  const [first] = await runtime.readEvents(task.id, { after: 0, limit: 1 })
  if ((first?.type === 'task.queued' || first?.type === 'task.created') && first.data.warning !== undefined)
    cli.say(oneLine(first.data.warning))
}

const serversOf = (written: string): string[] =>
  written === 'none' ? [] : written.split(',').flatMap((name) => name.trim() || [])
