import { asObject, type Fields } from '../../domain/base/object.ts'
import type { QuestionAsked } from '../../domain/question/question.ts'
import { list, text } from '../shared/fields.ts'
import { clean } from '../shared/text.ts'

/** A form of the program as questions to a person, and their answers as it wants them back. */
export interface Form {
  readonly questions: readonly QuestionAsked[]
  content(answers: readonly string[]): Fields
}

/** Undefined: it is no form, such as an address to be opened in a browser, which nobody does here. */
export function askForm(params: Fields): Form | undefined {
  const properties = asObject(asObject(params.requestedSchema)?.properties)
  if (!properties || (params.mode !== undefined && params.mode !== 'form')) return undefined
  const all = Object.entries(properties).flatMap(([name, schema]) => {
    const wanted = asObject(schema)
    return wanted ? [{ name, wanted, choices: choicesOf(wanted) }] : []
  })
  // Beside a choice there may be room for words of one's own, which nobody has to fill in.
  const required = list(asObject(params.requestedSchema)?.required)
  const needed = all.filter(({ name, choices }) => required.includes(name) || choices.length > 0)
  const asked = needed.length > 0 ? needed : all
  if (asked.length === 0) return undefined
  const intro = text(params.message) ?? ''
  return {
    questions: asked.map(({ name, wanted, choices }) => {
      const about = [text(wanted.title), text(wanted.description)].filter((part) => part)
      const lines = [asked.length === 1 ? intro : '', ...about, ...choices.flatMap(({ explained }) => explained ?? [])]
      const question = [...new Set(lines.filter((line) => line !== ''))].join('\n') || intro || name
      const options = choices.map(({ title }) => clean(title.slice(0, 1024))).filter((title) => title !== '')
      return { kind: 'free', text: clean(question.slice(0, 16_000)), options: options.slice(0, 20) }
    }),
    content: (answers) =>
      Object.fromEntries(asked.map((one, i) => [one.name, valueFor(one.wanted, one.choices, answers[i] ?? '')])),
  }
}

interface Choice {
  readonly value: unknown
  readonly title: string
  readonly explained?: string | undefined
}

function choicesOf(wanted: Fields): readonly Choice[] {
  const within = asObject(wanted.items) ?? wanted
  const titled = [...list(within.oneOf), ...list(within.anyOf)].flatMap((one) => {
    const { const: value, title, description } = asObject(one) ?? {}
    const name = text(title) ?? text(value)
    const explained = text(description) ? `- ${name}: ${text(description)}` : undefined
    return name === undefined ? [] : [{ value, title: name, explained }]
  })
  if (titled.length > 0) return titled
  const names = list(wanted.enumNames)
  return list(within.enum).map((value, i) => ({ value, title: text(names[i]) ?? String(value) }))
}

function valueFor(wanted: Fields, choices: readonly Choice[], answer: string): unknown {
  const chosen = choices.find(({ title }) => title === answer)?.value ?? answer
  switch (wanted.type) {
    case 'array':
      return [chosen]
    case 'boolean':
      return /^(y|yes|true|1)$/i.test(answer.trim())
    case 'number':
    case 'integer':
      return Number(answer)
    default:
      return chosen
  }
}
