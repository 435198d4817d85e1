import { createElement, type ReactNode } from 'react'
import { isolated, piecesOf } from '../../../src/domain/base/visible.ts'

/**
 * A text as the page draws it: what a reader would not see, or what would make them read something else, stands there by its number, marked so that
 * nobody takes it for typed text; words from right to left cannot move what is around them. Copied, it is the text that it was.
 */
export function drawn(text: string, options?: { exactly?: boolean }): ReactNode {
  const pieces = piecesOf(text, options)
  if (!pieces) return text
  const last = pieces.length > mostPieces ? pieces.slice(mostPieces) : []
  // One element, also where those who draw it set each child apart.
  return createElement(
    'span',
    null,
    ...pieces.slice(0, mostPieces).map(({ is, text: original, shown }) => {
      if (is === 'hidden') return createElement('mark', { className: 'unseen', [originalOf]: codesOf(original) }, shown)
      return is === 'rightToLeft' ? createElement('bdi', null, shown) : shown
    }),
    isolated(last.map(({ shown }) => shown).join('')),
  )
}

/** Each of them is an element or two: a browser that is given a million stands still. */
const mostPieces = 4_000

/** Of what a mark stands for: the numbers of its characters. */
export const originalOf = 'data-original'
const codesOf = (text: string) => [...text].map((char) => char.codePointAt(0)!.toString(16)).join(' ')
