import { visibleExactly } from '../../domain/base/visible.ts'
import { invalid, PawlError } from '../../domain/error.ts'
import type { AnswerGiven } from '../../domain/question/question.ts'
import type { QuestionView } from '../../domain/view/view.ts'
import { askedBy } from '../text/outcome.ts'
import { wrap } from '../text/plain.ts'
import type { Cli } from './cli.ts'
import { print } from './terminal.ts'

/** Puts an agent's question to the person at the terminal. Undefined if they leave it (Ctrl-C, end of input). */
export async function askPerson(cli: Cli, question: QuestionView): Promise<AnswerGiven | undefined> {
  const title = askedBy(question)
  const lines = [
    title,
    ...visibleExactly(question.text)
      .split('\n')
      .map((line) => `  ${line}`),
  ]
  lines.push(...optionLines(question))
  const columns = process.stderr.isTTY ? process.stderr.columns : 0
  const text = lines.join('\n')
  print(process.stderr, `${cli.style('ask', columns > 0 ? wrap(text, columns) : text)}\n`)
  const how =
    question.options.length === 0 ? 'Answer' : question.multiSelect ? 'Numbers, such as 1,3, or answer' : 'Number or answer'
  const prompt = `${how} (Ctrl-C leaves it open): `
  const { createInterface } = await import('node:readline/promises')
  cli.onAsking?.(true)
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  const left = new AbortController()
  let isSure = false
  terminal.on('SIGINT', () => left.abort())
  terminal.on('close', () => left.abort())
  try {
    for (;;) {
      const typed = (await terminal.question(prompt, { signal: left.signal })).trim()
      if (typed === '') continue
      // Where q is the key that leaves, it is seldom meant as an answer, and an answer cannot be taken back.
      if (typed === 'q' && cli.onAsking && !isSure && !question.options.includes('q')) {
        isSure = true
        print(process.stderr, 'Ctrl-C leaves the question open. To send "q" as the answer, write it once more.\n')
        continue
      }
      isSure = false
      try {
        return chosen(question, typed)
      } catch (error) {
        if (!(error instanceof PawlError)) throw error
        print(process.stderr, `${error.message}\n`)
      }
    }
  } catch (error) {
    if (!left.signal.aborted) throw error
    print(process.stderr, '\n')
    return undefined
  } finally {
    terminal.close()
    cli.onAsking?.(false)
  }
}

/** A number names one of the options, if there are any, and several where several may be chosen; one that names none is a slip. Anything else is the answer as it is. */
export function chosen(question: Pick<QuestionView, 'options' | 'multiSelect'>, typed: string): AnswerGiven {
  const { options, multiSelect } = question
  const pattern = multiSelect ? /^\d{1,2}(\s*[, ]\s*\d{1,2})*$/ : /^\d{1,2}$/
  if (options.length === 0 || !pattern.test(typed) || options.includes(typed)) return { answer: typed }
  const numbers = typed.split(/[\s,]+/).map(Number)
  const missing = numbers.find((number) => options[number - 1] === undefined)
  if (missing !== undefined)
    throw invalid(`There is no option ${missing}; choose one, or answer in words:\n${optionLines(question).join('\n')}`)
  return { options: numbers }
}

const optionLines = ({ options }: Pick<QuestionView, 'options'>) =>
  options.map((option, i) => `  ${i + 1}. ${visibleExactly(option).replaceAll('\n', ' ')}`)
