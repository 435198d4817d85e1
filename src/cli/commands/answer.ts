import type { Command } from 'commander'
import { conflict, invalid, notFound } from '../../domain/error.ts'
import type { QuestionView } from '../../domain/view.ts'
import type { Runtime } from '../../engine/runtime.ts'
import { askPerson, chosen } from '../ask.ts'
import type { Cli } from '../cli.ts'
import { type Connection, withConnection } from '../connect.ts'
import { findTask } from '../find-task.ts'
import { shortId } from '../format.ts'
import { oneLine } from '../plain.ts'
import { resumeWatching } from '../resume-watching.ts'
import { readStdin } from '../stdin.ts'

const maxAnswerBytes = 65_536

export function define(command: Command, cli: Cli): void {
  command
    .description('Answer a question of a task, which then goes on.')
    .argument('<question>', 'its id, or the task that asks: its id, the end of it, or "last"')
    .argument('[answer...]', 'the answer, or the number of an option; "-" reads it from stdin; nothing asks for it')
    .option('--wait', 'stay and show how it goes on; without a daemon it is run here')
    .action(async (named: string, words: string[], options: { wait?: boolean }) => {
      const typed = await typedAnswer(words)
      cli.exitCode = await withConnection(cli, { work: options.wait ? 'own' : 'none' }, (connection) =>
        answer(cli, connection, { named, typed, wait: options.wait === true }),
      )
    })
}

async function answer(
  cli: Cli,
  connection: Connection,
  given: { named: string; typed: string | undefined; wait: boolean },
): Promise<number> {
  const question = await findQuestion(connection.runtime, given.named)
  const text = given.typed === undefined ? await ask(cli, question) : chosen(question, given.typed)
  const answered = await connection.runtime.answerQuestion(question.id, text, { by: 'cli' })
  if (given.wait) return resumeWatching(cli, connection, question.task)
  if (cli.globals.json) cli.json(answered)
  const then = connection.isDaemon
    ? 'the daemon goes on with it'
    : `"pawl serve" or "pawl task wait ${shortId(question.task)}" goes on with it`
  cli.say(`Answered; ${then}.`)
  return 0
}

async function typedAnswer(words: string[]): Promise<string | undefined> {
  const fromStdin = words.length === 1 ? words[0] === '-' : words.length === 0 && process.stdin.isTTY !== true
  if (words.length === 0 && !fromStdin) return undefined
  const text = (fromStdin ? await readStdin(maxAnswerBytes) : words.join(' ')).trim()
  if (text === '') throw invalid('The answer is empty; say what the agent should know.')
  return text
}

async function ask(cli: Cli, question: QuestionView): Promise<string> {
  const typed = await askPerson(cli, question)
  if (typed === undefined) throw invalid('No answer was given; the question stays open.')
  return typed
}

/** By its own id, or as the one thing that a task waits for. */
async function findQuestion(runtime: Runtime, named: string): Promise<QuestionView> {
  if (named.startsWith('q_')) {
    const found = (await runtime.listQuestions({})).find((question) => question.id === named)
    if (!found)
      throw notFound(`There is no question "${oneLine(named, 60)}"; "pawl ls --state blocked" lists the tasks that wait.`)
    return found
  }
  const task = await findTask(runtime, named)
  const open = await runtime.listQuestions({ state: 'pending', task })
  if (open.length === 0) throw notFound(`Task ${task} asks nothing at the moment.`)
  if (open.length > 1)
    throw conflict(
      `Task ${task} asks ${open.length} questions; name one:\n${open.map((each) => `  ${each.id}  ${oneLine(each.text, 70)}`).join('\n')}`,
    )
  return open[0]!
}
