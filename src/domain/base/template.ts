import { invalid } from '../error.ts'

/** What a template can name. A list is shown with a line each, or as one line between commas where it stands in a line with other words. */
export type TemplateValues = Readonly<Record<string, string | readonly string[] | boolean | undefined>>

/**
 * Puts values into a text: `{{name}}` is the value, and `{{#name}}…{{/name}}` stays only if there is one, `{{^name}}…{{/name}}` only if there is none. What was put in
 * is not read again, so a value cannot bring names of its own. Refuses names that are not known, sections that are not closed, and a text that comes out empty.
 */
export function renderTemplate(template: string, values: TemplateValues, called: string): string {
  const known = Object.keys(values).join(', ')
  const valueNamed = (name: string) => {
    if (!(name in values)) throw invalid(`${called} names {{${name}}}, which there is none of; there is: ${known}.`)
    return values[name]
  }
  const isThere = (name: string) => {
    const value = valueNamed(name)
    return Array.isArray(value) ? value.length > 0 : Boolean(value)
  }
  const shown: string[] = []
  const open: { readonly name: string; readonly isKept: boolean }[] = []
  let at = 0
  const keep = (text: string) => void (open.every(({ isKept }) => isKept) && shown.push(text))
  for (const tag of template.matchAll(/\{\{\s*([#^/]?)\s*([a-zA-Z]+)\s*\}\}/g)) {
    const [whole, mark, name] = tag as unknown as [string, string, string]
    keep(template.slice(at, tag.index))
    at = tag.index + whole.length
    if (mark === '/') {
      if (open.pop()?.name !== name) throw invalid(`${called} closes {{/${name}}}, which is not what is open there.`)
    } else if (mark === '') keep(textOf(valueNamed(name)))
    else open.push({ name, isKept: isThere(name) === (mark === '#') })
  }
  if (open.length > 0) throw invalid(`${called} opens {{#${open.at(-1)?.name}}} and does not close it.`)
  keep(template.slice(at))
  const text = shown.join('').trim()
  if (text === '') throw invalid(`${called} comes out empty; say something in it.`)
  return text
}

const textOf = (value: TemplateValues[string]) =>
  typeof value === 'string' ? value : typeof value === 'boolean' ? (value ? 'yes' : 'no') : (value ?? []).join('\n')
