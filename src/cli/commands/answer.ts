import type { Command } from 'commander'
import { conflict, invalid } from '../../domain/error.ts'
import type { AnswerGiven } from '../../domain/question/question.ts'
import type { QuestionView } from '../../domain/view/view.ts'
import { type Connection, withConnection } from '../connecting/connect.ts'
import { findQuestion } from '../finding/find-question.ts'
import { askPerson, chosen } from '../terminal/ask.ts'
import type { Cli } from '../terminal/cli.ts'
import { readStdin } from '../terminal/stdin.ts'
import { shortId } from '../text/format.ts'
import { oneLine } from '../text/plain.ts'
import { resumeWatching } from '../watching/resume-watching.ts'

const maxAnswerBytes = 65_536

interface AnswerOptions {
  option?: number[]
  digest?: string
  ifText?: string
  wait?: boolean
}

export function define(command: Command, cli: Cli): void {
  command
    .description('Answer a question of a task, which then goes on. An answer counts once.')
    .argument('<question>', 'its id or that of the task that asks, the end or beginning of either, or "last"')
    .argument('[answer...]', 'the answer, or the number of an option; "-" reads it from stdin; nothing asks for it')
    .option('--option <number>', 'choose this option; more than once, or 1,3, where several may be chosen', parseOptions)
    .option('--digest <digest>', 'only if the question is the one with this digest ("pawl questions --json" shows it)')
    .option('--if-text <text>', 'only if the question says exactly this')
    .option('--wait', 'stay and show how it goes on; without a daemon it is run here')
    .addHelpText('after', '\nExamples\n  pawl answer last "use port 8080"\n  pawl answer q_01h… --option 1 --digest sha256:…\n')
    .action(async (named: string, words: string[], options: AnswerOptions) => {
      const typed = await typedAnswer(words, options)
      cli.exitCode = await withConnection(cli, { work: options.wait ? 'own' : 'none' }, (connection) =>
        answer(cli, connection, named, typed, options),
      )
    })
}

async function answer(
  cli: Cli,
  connection: Connection,
  named: string,
  typed: string | undefined,
  { option: numbers, digest, ifText, wait }: AnswerOptions,
): Promise<number> {
  const { runtime } = connection
  const question = await findQuestion(runtime, named)
  if (ifText !== undefined && ifText.trim() !== question.text.trim())
    throw conflict(`Question ${question.id} says something else: "${oneLine(question.text, 200)}". It was not answered.`)
  const given = numbers
    ? { options: numbers, ...(typed === undefined ? {} : { answer: typed }) }
    : await words(cli, question, typed)
  // Whoever reads the question here answers what they read, and nothing that took its place meanwhile.
  const answered = await runtime.answerQuestion(question.id, { ...given, digest: digest ?? question.digest }, { by: 'cli' })
  if (wait) return resumeWatching(cli, connection, question.task)
  if (cli.globals.json) cli.json(answered)
  const then = connection.isDaemon
    ? 'the daemon goes on with it'
    : `"pawl serve" or "pawl task wait ${shortId(question.task)}" goes on with it`
  cli.say(`Answered; ${then}.`)
  return 0
}

async function typedAnswer(words: string[], { option }: AnswerOptions): Promise<string | undefined> {
  const isPiped = words.length === 0 && option === undefined && process.stdin.isTTY !== true
  const fromStdin = isPiped || (words.length === 1 && words[0] === '-')
  if (words.length === 0 && !fromStdin) return undefined
  const text = (fromStdin ? await readStdin(maxAnswerBytes) : words.join(' ')).trim()
  if (text === '') throw invalid('The answer is empty; say what the agent should know.')
  return text
}

const words = async (cli: Cli, question: QuestionView, typed: string | undefined): Promise<AnswerGiven> => {
  const given = typed === undefined ? await askPerson(cli, question) : chosen(question, typed)
  if (given === undefined) throw invalid('No answer was given; the question stays open.')
  return given
}

function parseOptions(written: string, before: number[] = []): number[] {
  const numbers = written.split(',').map((each) => Number(each.trim()))
  if (numbers.some((number) => !Number.isInteger(number) || number < 1))
    throw invalid(`"${oneLine(written, 40)}" names no option; options are numbered from 1.`)
  return [...before, ...numbers]
}
