import { createContext, Script } from 'node:vm'

/** A sensible pattern needs a thousandth of it. One that tries every way there is would else hold up everything, for a text that an agent chose. */
const limitMs = 100

const place = createContext({})
const search = new Script(`texts.map((text) => [...(new RegExp(source, 'iu').exec(text) ?? [])])`)

/** What a pattern of the settings finds in each of the texts: the match and its groups, or nothing. Undefined if that cannot be told in good time. */
export function matchesIn(source: string, texts: readonly string[]): readonly (readonly string[])[] | undefined {
  try {
    Object.assign(place, { source, texts })
    return search.runInContext(place, { timeout: limitMs }) as string[][]
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return undefined
    throw thrown
  } finally {
    Object.assign(place, { source: '', texts: [] })
  }
}
