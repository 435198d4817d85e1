import { chown, mkdir, open, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Adapter, Command, LaunchSpec } from '../agent.ts'
import { messageOf } from '../domain/error.ts'
import { findProgram } from '../process/program.ts'
import type { SandboxHealth } from '../sandbox.ts'
import { runsOfTask, type TakenRun } from '../store/runs.ts'
import { failingAs, RunFailure } from './failure.ts'
import { composePrompt } from './prompt.ts'
import type { RunParts } from './run.ts'
import type { AgentUser } from './workspace.ts'

/** Where walls cannot be built, only somebody who watches, our own program, or a profile that says so may go on. */
export function refuseOpenWalls(taken: TakenRun, adapter: Adapter, health: SandboxHealth): void {
  const { task } = taken
  if (health.enforced || task.attended || adapter.isOurs || task.agent_config.profile === 'unattended-open') return
  const cure = health.fix ? `${health.fix}, or ` : ''
  throw new RunFailure(
    'sandbox_error',
    `Agent "${task.agent}" may not run unattended without walls, and none can be built here: ${health.detail} Cure: ${cure}run "pawl doctor --fix", or name the profile unattended-open.`,
  )
}

export async function makeDirectories(directory: string, sessionHome: string, user: AgentUser | undefined): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 })
  await mkdir(sessionHome, { recursive: true, mode: 0o700 })
  if (user) await chown(sessionHome, user.uid, user.gid)
}

/** What the adapter needs to know to start its program: options as it understands them, the prompt of this run, and a conversation to go on with. */
export async function launchSpec(
  taken: TakenRun,
  parts: RunParts,
  adapter: Adapter,
  place: { workspace: string; home: string },
): Promise<LaunchSpec> {
  const { run, task, session } = taken
  const agent = task.agent_config
  const fresh = task.continuation?.kind === 'retry' && task.continuation.fresh
  const resume = adapter.can.resume && !fresh ? (session.vendor_id ?? undefined) : undefined
  // Only a program that remembers the conversation is told how its last run ended.
  const earlier =
    resume === undefined
      ? undefined
      : (await runsOfTask(parts.db, task.id)).filter((other) => other.id !== run.id && other.started_at !== null).at(-1)
  const options = adapter.options.safeParse(agent.options)
  if (!options.success)
    throw new RunFailure(
      'bad_config',
      `Agent "${agent.name}": ${options.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('; ')}`,
    )
  return {
    options: options.data,
    model: agent.model,
    systemPrompt: agent.systemPromptFile ? await readSystemPrompt(agent.systemPromptFile) : agent.systemPrompt,
    prompt: composePrompt({
      prompt: task.prompt,
      continuation: task.continuation,
      resumed: resume !== undefined,
      earlierOutcome: earlier?.outcome ?? null,
    }),
    ...place,
    resume,
    extraArgs: task.extra_args,
  }
}

async function readSystemPrompt(file: string): Promise<string> {
  return readFile(file, 'utf8').catch((error: unknown) => {
    throw new RunFailure('bad_config', `The system prompt file ${file} cannot be read: ${messageOf(error)}.`)
  })
}

/** The agent's environment: what the run brings, what the settings pass on or fix, and what the adapter adds. Nothing is inherited. */
export function withEnvironment(command: Command, taken: TakenRun, parts: RunParts, token: string): Command {
  const { env } = taken.task.agent_config
  const ours = { PATH: parts.path, PAWL_TASK_ID: taken.task.id, PAWL_RUN_ID: taken.run.id, PAWL_DOOR_TOKEN: token }
  return { ...command, env: { ...ours, ...parts.environment(env.pass), ...env.set, ...command.env } }
}

/** The program must be there before anything is started; its bare name becomes the path where it was found. */
export async function installed(command: Command, folder: string): Promise<Command> {
  const file = await failingAs('binary_missing', () => findProgram(command.file, { path: command.env.PATH ?? '', folder }))
  return command.file.includes('/') ? command : { ...command, file }
}

/** The home belongs to the agent, who may have left a link of that name there: the old entry goes first, and the new one is made, never followed. */
export async function writeSessionFiles(command: Command, home: string, user: AgentUser | undefined): Promise<void> {
  for (const [name, text] of Object.entries(command.files ?? {})) {
    const path = join(home, name)
    await rm(path, { force: true, recursive: true })
    const file = await open(path, 'wx', 0o600)
    try {
      await file.writeFile(text)
      if (user) await file.chown(user.uid, user.gid)
    } finally {
      await file.close()
    }
  }
}
