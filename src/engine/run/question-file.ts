import { join } from 'node:path'
import { z } from 'zod'
import { isObjectOrArray } from '../../domain/base/object.ts'
import { QuestionAsked } from '../../domain/question/question.ts'
import { readHomeFileStart, removeHomeFile } from '../../sandbox/files/home-files.ts'
import { runsOfTask, type TakenRun } from '../../store/runs.ts'
import type { RunContext } from '../base/run-context.ts'
import type { DoorVerbs } from '../endpoint/endpoint.ts'
import type { RunParts } from './run.ts'
import { runVerbs } from './run-operations.ts'
import type { Place } from './turn.ts'

/** A question that a program leaves in a file instead of asking it by any other means. One per session, so that a program which serves many runs finds it where it was. */
const name = '.pawl-question'
const maxBytes = 256 * 1024
const maxNoted = 8_000

/** Where a program finds it: under our name, and under the one that programs may know. */
export function questionFileVariables(home: string): Record<string, string> {
  const path = join(home, name)
  return { PAWL_QUESTION_FILE: path, CLAUDOMATOR_QUESTION_FILE: path }
}

/** What a program left there. The file stays until `clearQuestionFile`: whatever it says is stored first. */
export type Left =
  | { readonly question: QuestionAsked }
  /** It cannot be asked; the sentence says why, and what it said. */
  | { readonly broken: string }

export async function readQuestionFile(home: string): Promise<Left | undefined> {
  const left = await readHomeFileStart({ home, path: name }, maxBytes)
  const text = left?.text.trim() ?? ''
  if (left && left.size > maxBytes)
    return {
      broken: `The question file has more than ${maxBytes / 1024} KiB, so it is not asked. It begins: ${text.slice(0, maxNoted)}`,
    }
  return text === '' ? undefined : readQuestion(text)
}

/**
 * Asks what a program left in the file, whatever it ended with. The file goes when its question is stored: a crash in between leaves it to the next run. True if
 * something was asked.
 */
export async function takeQuestionFile(
  home: string,
  verbs: Pick<DoorVerbs, 'ask'>,
  voice: Pick<RunContext, 'note'>,
): Promise<boolean> {
  const left = await readQuestionFile(home)
  if (left && 'question' in left) await verbs.ask(left.question)
  else if (left) await voice.note('question_file_broken', left.broken)
  if (left) await clearQuestionFile(home)
  return left !== undefined && 'question' in left
}

/** A run that was lost with its worker may have left a question that nobody has read: it is asked before anything else is done. True if it was. */
export async function adoptQuestionFile(taken: TakenRun, parts: RunParts, { voice, walls }: Place): Promise<boolean> {
  if (taken.run.fence === 1 || !(await readQuestionFile(walls.home))) return false
  const earlier = (await runsOfTask(parts.db, taken.task.id)).filter((run) => run.id !== taken.run.id && run.started_at !== null)
  return earlier.at(-1)?.outcome === 'lost' && takeQuestionFile(walls.home, runVerbs(taken, parts, voice), voice)
}

export const clearQuestionFile = (home: string): Promise<void> => removeHomeFile({ home, path: name })

/** What else it says is nobody's mistake. */
const { text: Text, options: Options, multiSelect: MultiSelect } = QuestionAsked.shape
const FromFile = z.object({ text: Text, options: Options, multiSelect: MultiSelect })

function readQuestion(text: string): Left {
  const value = parse(text)
  // Plain words are a question too; JSON that is no question is a mistake.
  const given = isObjectOrArray(value) ? withText(value) : { text: typeof value === 'string' ? value : text }
  const parsed = FromFile.safeParse(given)
  if (parsed.success) return { question: { kind: 'free', ...parsed.data } }
  const faults = parsed.error.issues.map((issue) => `${issue.path.join('.') || 'it'}: ${issue.message}`)
  return { broken: `The question file cannot be asked (${faults.join('; ')}). It says: ${text.slice(0, maxNoted)}` }
}

/** Some call it so. */
const withText = (value: object) => ('question' in value && !('text' in value) ? { ...value, text: value.question } : value)

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}
