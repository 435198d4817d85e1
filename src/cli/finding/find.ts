import { invalid, notFound, type PawlError } from '../../domain/error.ts'
import type { Page } from '../../domain/view/view.ts'
import { oneLine } from '../text/plain.ts'
import { searched, takePages } from './pages.ts'

/** How many characters of an id are enough to say which one is meant. */
const fewest = 4

/** A kind of thing that people name at the command line. */
export interface Noun<T> {
  readonly called: string
  /** The letter that its ids begin with. */
  readonly letter: string
  /** The command that lists them. */
  readonly listedBy: string
  /** Other ways to name one, as in `, or "last"`. */
  readonly or?: string
  /** What tells one from another, after its id. */
  says(item: T): string
}

/**
 * The one rule for everything that has an id: its whole id, or four or more characters of its end or of its beginning, if they fit only one of the
 * newest. Ids begin with the time of their making, so it is their ends that differ.
 */
export async function findNamed<T extends { id: string }>(
  named: string,
  noun: Noun<T>,
  ask: (page: { limit: number; cursor: string | undefined }) => Promise<Page<T>>,
): Promise<string> {
  if (isWholeId(noun.letter, named)) return named
  if (!isPartOfId(named)) throw unnameable(named, noun)
  const found = (await takePages(searched, ask)).items.filter(({ id }) => fits(named, id))
  if (found.length > 1) throw ambiguous(named, noun, found)
  if (found.length === 0)
    throw notFound(`There is no ${noun.called} "${named}" among the newest ${searched}; "${noun.listedBy}" lists them.`)
  return found[0]!.id
}

export const isWholeId = (letter: string, named: string) => new RegExp(`^${letter}_[0-9a-z]{18}$`).test(named)

/** Long enough, and made of what ids are made of. */
export const isPartOfId = (named: string) => new RegExp(`^[0-9a-z_]{${fewest},20}$`).test(named)

/** True of the end of an id, and of its beginning, with or without the letter. */
export const fits = (named: string, id: string) => id.endsWith(named) || id.startsWith(named) || id.startsWith(named, 2)

export const unnameable = (named: string, { called, or = '' }: Pick<Noun<never>, 'called' | 'or'>): PawlError =>
  invalid(
    `"${oneLine(named, 60)}" names no ${called}; give its id, ${fewest} or more characters of its end or beginning${or === '' ? '' : `, or ${or}`}.`,
  )

export const ambiguous = <T extends { id: string }>(
  named: string,
  { called, says }: Pick<Noun<T>, 'called' | 'says'>,
  found: readonly T[],
): PawlError => {
  const shown = found.slice(0, 10).map((each) => `  ${each.id}  ${says(each)}`)
  const rest = found.length > shown.length ? `\n  and ${found.length - shown.length} more` : ''
  return invalid(`"${named}" fits ${found.length} ${called}s; which one?\n${shown.join('\n')}${rest}`)
}
