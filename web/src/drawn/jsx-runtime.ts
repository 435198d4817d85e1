import { createElement, isValidElement, type ReactNode } from 'react'
import { Fragment, jsx as reactJsx, jsxs as reactJsxs } from 'react/jsx-runtime'
import { piecesOf } from '../../../src/domain/base/visible.ts'
import { drawn } from './drawn.ts'
import { drawnFileName, drawnText } from './text.ts'

/**
 * What the page is made with instead of React's own: every text of every element goes through `drawn`, so that no screen can forget it. What an element is
 * given to work with (values of fields, addresses, keys) stays as it is.
 */
export type { JSX } from 'react'
export { Fragment }

type Props = Readonly<Record<string, unknown>>
type Type = Parameters<typeof reactJsx>[0]
type Key = Parameters<typeof reactJsx>[2]

export const jsx = (type: Type, props: Props, key?: Key) => withNote(reactJsx(type, shown(type, props), key), type, props, key)
export const jsxs = (type: Type, props: Props, key?: Key) => reactJsxs(type, shown(type, props), key)

/** In these nothing but text can be. */
const textOnly = new Set<unknown>(['option', 'title', 'textarea'])

function shown(type: unknown, props: Props): Props {
  let changed: Record<string, unknown> | undefined
  for (const name in props) {
    const given = props[name]
    const meant =
      name === 'children'
        ? shownChild(given, textOnly.has(type))
        : typeof given === 'string' && isText(name)
          ? (name === 'download' ? drawnFileName : drawnText)(given)
          : given
    if (meant !== given) {
      changed ??= { ...props }
      changed[name] = meant
    }
  }
  return changed ?? props
}

/** Attributes that are shown, or read aloud. */
const isText = (name: string) =>
  name === 'title' ||
  name === 'alt' ||
  name === 'label' ||
  name === 'placeholder' ||
  name === 'download' ||
  name === 'data-head' ||
  name.startsWith('aria-')

function shownChild(child: unknown, asText: boolean): unknown {
  if (typeof child === 'string') return asText ? drawnText(child) : drawn(child)
  if (!Array.isArray(child)) return child
  const all = child.map((one, n) => {
    const other = shownChild(one, asText)
    return other === one || typeof other === 'string' || typeof one !== 'string'
      ? other
      : createElement(Fragment, { key: `drawn ${n}` }, other as ReactNode)
  })
  return all.every((one, n) => one === child[n]) ? child : all
}

/** A field holds what was written, to the letter: what cannot be seen in it is told below it. */
function withNote(field: ReactNode, type: unknown, { value, defaultValue }: Props, key: Key | undefined): ReactNode {
  if (!isValidElement(field) || (type !== 'textarea' && type !== 'input')) return field
  const text = value ?? defaultValue
  const pieces = typeof text === 'string' ? piecesOf(text) : undefined
  const unseen = new Set(pieces?.flatMap((piece) => (piece.is === 'hidden' ? piece.shown.split(/(?<=>)/) : [])))
  // Always of this shape: a field that moved would lose the cursor.
  return createElement(
    Fragment,
    key === undefined ? null : { key },
    field,
    unseen.size > 0
      ? createElement(
          'span',
          { className: 'unseen-note small', role: 'note' },
          `Not seen above: ${[...unseen].slice(0, 10).join(' ')}`,
        )
      : null,
  )
}
