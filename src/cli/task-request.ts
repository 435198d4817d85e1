import { constants } from 'node:fs'
import { access, realpath, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { invalid, PawlError } from '../domain/error.ts'
import { didYouMean } from '../domain/nearest.ts'
import { maxPromptBytes, priorities, workspaceModes } from '../domain/task.ts'
import type { NewTask, TaskView } from '../domain/view.ts'
import type { Cli } from './cli.ts'
import type { Connection } from './connect.ts'
import { sessionOf } from './find-session.ts'
import { readOutputSchema } from './output-schema.ts'
import { oneLine } from './plain.ts'
import { readStdin } from './stdin.ts'

export interface TaskOptions {
  agent?: string
  model?: string
  workspace?: string
  workspaceMode?: string
  bringBack?: string
  session?: string
  resetSession?: boolean
  outputSchema?: string
  priority?: string
  tag?: string[]
  timeout?: string
  agentArg?: string[]
  profile?: string
}

/** The arguments of every command that makes a task. */
export function defineTask(command: Command): Command {
  return command
    .argument(
      '[prompt...]',
      'what the agent should do; "-" or nothing reads it from stdin, "-" as the last word appends stdin to it; "--" before one that begins with a dash',
    )
    .option('--agent <name>', 'which agent (PAWL_AGENT); "pawl agents" lists them')
    .option('--model <name>', 'which model the agent uses')
    .option('--workspace <dir>', 'where it works; this folder, or where the session works, if left out')
    .option('--workspace-mode <mode>', 'direct, copy (changes are brought back) or clone (a branch of its own)')
    .option('--bring-back <what>', 'with a clone: "branch" puts its branch into your repository at the end')
    .option('--session <id>', 'go on with that conversation, with its agent; "pawl session ls" lists them')
    .option('--reset-session', 'with --session: begin a new conversation in it')
    .option('--output-schema <file>', 'a JSON schema that the answer must fit: a file, or the schema itself as JSON')
    .option('--priority <level>', 'high, normal, low or a number; one step is worth an hour of waiting')
    .option('--tag <name>', 'a label to find it by; may be repeated', collect)
    .option('--timeout <duration>', 'the longest a run may take: 90s, 30m, 2h; 0 for no limit')
    .option('--agent-arg <arg>', 'passed on to the agent program; write --agent-arg=--flag for a flag; may be repeated', collect)
    .option('--profile <name>', 'what it may see and do: guarded, strict, trusted-repo, unattended-open, or one of yours')
}

/** Checks what can be checked before anything is made. Everything but the agent and its profile, which the settings decide. */
export async function taskRequest(
  cli: Cli,
  words: string[],
  options: TaskOptions,
): Promise<Omit<NewTask, 'agent' | 'agentConfig' | 'profile'>> {
  const { session, outputSchema } = options
  const prompt = await promptOf(words)
  if (options.resetSession && session === undefined)
    throw invalid('--reset-session needs --session ID: a task without one begins a new conversation anyway.')
  // A session goes on where its files are, unless another place is named.
  const isThere = session !== undefined && options.workspace === undefined
  const workspace = isThere ? undefined : await workspaceOf(cli.cwd, options.workspace)
  return {
    prompt,
    workspace,
    session: session === undefined ? undefined : sessionOf(session),
    resetSession: options.resetSession,
    outputSchema: outputSchema === undefined ? undefined : await readOutputSchema(cli.cwd, outputSchema),
    workspaceMode: oneOf('--workspace-mode', options.workspaceMode, workspaceModes),
    bringBack: oneOf('--bring-back', options.bringBack, ['branch'] as const),
    model: options.model,
    priority: options.priority === undefined ? undefined : priorityOf(options.priority),
    tags: options.tag,
    timeoutMs: options.timeout === undefined ? undefined : await timeoutOf(options.timeout),
    extraArgs: options.agentArg,
  }
}

function oneOf<const T extends string>(option: string, given: string | undefined, known: readonly T[]): T | undefined {
  const found = known.find((one) => one === given)
  if (given === undefined || found !== undefined) return found
  throw invalid(`"${oneLine(given)}" is not known to ${option}${didYouMean(given, known)} There is: ${known.join(', ')}.`)
}

const collect = (value: string, before: string[] | undefined) => [...(before ?? []), value]

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

export async function workspaceOf(cwd: string, named: string | undefined): Promise<string> {
  const path = resolve(cwd, named ?? '.')
  try {
    const real = await realpath(path)
    if (!(await stat(real)).isDirectory()) throw invalid(`The workspace ${path} is not a folder.`)
    await access(real, constants.R_OK | constants.X_OK)
    return real
  } catch (error) {
    switch ((error as NodeJS.ErrnoException).code) {
      case 'ENOENT':
      case 'ENOTDIR':
        throw invalid(`The workspace ${path} does not exist; make it first, or name another with --workspace.`)
      case 'EACCES':
      case 'EPERM':
        throw invalid(
          `The workspace ${path} cannot be read by this user; change its permissions, or name another with --workspace.`,
        )
      default:
        throw error
    }
  }
}

function priorityOf(level: string): number {
  if (Object.hasOwn(priorities, level)) return priorities[level as keyof typeof priorities]
  const number = /^-?\d{1,3}$/.test(level) ? Number(level) : Number.NaN
  if (!(number >= -100 && number <= 100))
    throw invalid('--priority must be high, normal, low, or a whole number from -100 to 100.')
  return number
}

async function timeoutOf(written: string): Promise<number> {
  const { longestMs, parseDuration } = await import('../config/duration.ts')
  const ms = parseDuration(written)
  if (ms === undefined) throw invalid('--timeout must be a duration such as 90s, 30m or 2h; 0 means no limit.')
  if (ms > longestMs) throw invalid('--timeout must be at most 24d; 0 means no limit.')
  return ms
}

/** The agent of a new task: the one that was named, else that of the session it goes on with, else as the settings say. */
export async function agentOf(
  { runtime, chooseAgent }: Connection,
  { agent, session, profile }: TaskOptions,
): Promise<Pick<NewTask, 'agent' | 'agentConfig' | 'profile'>> {
  if (agent !== undefined || session === undefined) return chooseAgent(agent, profile)
  const found = await runtime.getSession(session).catch((error: unknown) => {
    throw error instanceof PawlError && error.code === 'not_found' ? invalid(error.message) : error
  })
  return chooseAgent(found.agent, profile)
}

/** Makes the task. What is not found was named on the command line, so it is a mistake of usage. */
export async function createTask(connection: Connection, request: NewTask): Promise<TaskView> {
  try {
    return (await connection.runtime.createTask(request, { by: 'cli' })).task
  } catch (error) {
    if (error instanceof PawlError && error.code === 'not_found') throw invalid(error.message)
    throw error
  }
}

/** What runs a task that was only queued, and which agent does it if nobody named one. */
export function sayQueued(cli: Cli, connection: Connection, unnamed?: TaskView): void {
  const agent = unnamed && !cli.globals.json ? ` for "${oneLine(unnamed.agent)}"` : ''
  if (!connection.isDaemon) cli.say(`Queued${agent}. No daemon is running: "pawl serve" will run it.`)
  else if (agent !== '') cli.say(`Queued${agent}.`)
}
