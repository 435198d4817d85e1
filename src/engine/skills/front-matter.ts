import { parse } from 'yaml'
import { isObject } from '../../domain/base/object.ts'
import { invalid } from '../../domain/error.ts'

export interface Written {
  readonly fields: Readonly<Record<string, unknown>>
  readonly body: string
}

/** A reader of YAML takes minutes for half a megabyte of keys, and agents can write to a skill that is a link into their repository. */
const mostChars = 8_192

/** A Markdown text with YAML between two lines of dashes before it. Throws an `invalid` that ends the sentence "The skill x …". */
export function readFrontMatter(text: string): Written {
  const found = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/.exec(text)
  if (!found) throw invalid('begins with no front matter (name and description between two lines of ---)')
  if (found[1]!.length > mostChars) throw invalid(`has front matter of more than ${mostChars} characters`)
  let fields: unknown
  try {
    fields = parse(found[1]!, { maxAliasCount: 0 })
  } catch (error) {
    throw invalid(`has front matter that is no YAML: ${(error as Error).message.split('\n')[0]}`)
  }
  if (!isObject(fields)) throw invalid('has front matter without any field; give it a description')
  return { fields: fields as Record<string, unknown>, body: text.slice(found[0].length).trim() }
}

const longestDescription = 1_024

/** What models decide by. */
export function descriptionIn({ fields }: Written): string {
  const { description } = fields
  if (typeof description !== 'string' || description.trim() === '') throw invalid('has no description')
  const text = description.replace(/\s+/g, ' ').trim()
  if (text.length > longestDescription) throw invalid(`has a description of more than ${longestDescription} characters`)
  return text
}
