import type { Command } from 'commander'
import { invalid, PawlError } from '../../domain/error.ts'
import { maxPromptBytes } from '../../domain/task/task.ts'
import type { NewTask } from '../../domain/view/view.ts'
import { type Connection, withConnection } from '../connecting/connect.ts'
import { isWholeId } from '../finding/find.ts'
import { findSession } from '../finding/find-session.ts'
import { findTask } from '../finding/find-task.ts'
import { createTask, sayQueued, workspaceOf } from '../requests/task-request.ts'
import type { Cli } from '../terminal/cli.ts'
import { readStdin } from '../terminal/stdin.ts'
import { resumeWatching } from '../watching/resume-watching.ts'

export function define(command: Command, cli: Cli): void {
  command
    .description('Send a message into a conversation: it becomes the next task of that session, after what runs there now.')
    .argument('<to>', 'a session or a task of it (id, the end or beginning of it, or "last"), or an agent: its newest session')
    .argument('[text...]', 'what to say; "-" reads it from stdin')
    .option('--allow-home', 'it works in a home folder or one above; keys and logins in it stay covered')
    .option('--wait', 'stay and show how it goes; without a daemon it is run here')
    .addHelpText('after', '\nExamples\n  pawl send last "and now the tests"\n  pawl send demo "look again" --wait')
    .action(async (named: string, words: string[], options: { wait?: boolean; allowHome?: boolean }) => {
      const prompt = await said(words)
      cli.exitCode = await withConnection(cli, { work: options.wait ? 'own' : 'none', isForNewTask: true }, (connection) =>
        send(cli, connection, { named, prompt, isWatched: options.wait === true, allowHome: options.allowHome }),
      )
    })
}

async function send(
  cli: Cli,
  connection: Connection,
  { named, prompt, isWatched, ...asked }: { named: string; prompt: string; isWatched: boolean } & Pick<NewTask, 'allowHome'>,
): Promise<number> {
  const to = await conversation(cli, connection, named)
  const task = await createTask(connection, { prompt, ...asked, ...to, attended: isWatched && process.stderr.isTTY === true })
  if (isWatched) return resumeWatching(cli, connection, task.id)
  if (cli.globals.json) cli.json(task)
  else cli.out(task.id)
  sayQueued(cli, connection)
  return 0
}

async function said(words: readonly string[]): Promise<string> {
  const isPiped = words.length === 0 ? process.stdin.isTTY !== true : words.length === 1 && words[0] === '-'
  const text = (isPiped ? await readStdin(maxPromptBytes) : words.join(' ')).trim()
  if (text === '') throw invalid('The message is empty; say what the agent should do, for example: pawl send last "go on"')
  return text
}

/** Where it goes: into a session, or to an agent that has none yet. */
async function conversation(
  cli: Cli,
  { runtime, chooseAgent }: Connection,
  named: string,
): Promise<Pick<NewTask, 'agent' | 'agentConfig' | 'profile' | 'session' | 'workspace'>> {
  const going = async (session: string) => {
    const { agent, workspace } = await runtime.getSession(session)
    return { ...(await chooseAgent(agent)), session, workspace }
  }
  if (isWholeId('s', named)) return going(named)
  if (isWholeId('t', named) || named === 'last') return going((await runtime.getTask(await findTask(runtime, named))).session)
  const agents = await runtime.listAgents()
  if (agents.some(({ name }) => name === named)) {
    const newest = await newestOf(runtime, named)
    return newest === undefined
      ? { ...(await chooseAgent(named)), workspace: await workspaceOf(cli.cwd, undefined) }
      : going(newest)
  }
  const [session, task] = await Promise.all([found(findSession(runtime, named)), found(findTask(runtime, named))])
  if (session !== undefined && task !== undefined) {
    const of = (await runtime.getTask(task)).session
    if (of !== session)
      throw invalid(`"${named}" fits the session ${session} and the task ${task}; write more of the one that you mean.`)
  }
  if (session !== undefined) return going(session)
  if (task !== undefined) return going((await runtime.getTask(task)).session)
  throw invalid(
    `Nothing is called "${named.slice(0, 60)}": name a session ("pawl sessions ls"), a task ("pawl ls") or an agent ("pawl agents").`,
  )
}

async function newestOf(runtime: Connection['runtime'], agent: string): Promise<string | undefined> {
  const { items } = await runtime.listTasks({ agent, limit: 1 })
  return items[0]?.session
}

const found = (looking: Promise<string>): Promise<string | undefined> =>
  looking.catch((error: unknown) => {
    if (error instanceof PawlError && error.code === 'not_found') return undefined
    throw error
  })
