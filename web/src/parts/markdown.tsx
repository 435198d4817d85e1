import type { Token, Tokens } from 'marked'
import { memo, type ReactNode } from 'react'
import styles from './markdown.module.css'
import { tokensOf } from './markdown-tokens.ts'
import { safeAddress, unsaidTarget } from './safe-address.ts'
import { Wide } from './wide.tsx'

/**
 * What an agent wrote, as markdown. It is taken apart into tokens and built from elements that we choose: no text of an agent is ever read as HTML, links lead only
 * to the web or to mail, and nothing is loaded from elsewhere, pictures included.
 */
export const Markdown = memo(function Markdown({ text }: { text: string }) {
  const tokens = tokensOf(text)
  return tokens ? <div className={styles.text}>{blocks(tokens)}</div> : <div className={styles.plain}>{text}</div>
})

const blocks = (tokens: readonly Token[]): ReactNode[] => tokens.map((token, n) => block(token as Tokens.Generic, n))
const inline = (tokens: readonly Token[] | undefined): ReactNode[] =>
  (tokens ?? []).map((token, n) => span(token as Tokens.Generic, n))

function block(token: Tokens.Generic, key: number): ReactNode {
  switch (token.type) {
    case 'space':
    case 'def':
    // The list has drawn it.
    case 'checkbox':
      return null
    case 'heading':
      return <Heading key={key} level={Math.min(6, token.depth + 2)} of={inline(token.tokens)} />
    case 'paragraph':
      return <p key={key}>{inline(token.tokens)}</p>
    case 'code':
      return (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
        <pre key={key} tabIndex={0}>
          <code>{token.text}</code>
        </pre>
      )
    case 'blockquote':
      return <blockquote key={key}>{blocks(token.tokens ?? [])}</blockquote>
    case 'hr':
      return <hr key={key} />
    case 'list':
      return (
        <List key={key} token={token}>
          {(token.items as Tokens.ListItem[]).map((item, n) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the text is read anew as a whole
            <li key={n}>
              {item.task && (
                <input
                  type="checkbox"
                  checked={item.checked ?? false}
                  readOnly
                  disabled
                  aria-label={item.checked ? 'done' : 'open'}
                />
              )}
              {blocks(item.tokens)}
            </li>
          ))}
        </List>
      )
    case 'table':
      return (
        <Wide key={key} label="Table">
          <table>
            <thead>
              <tr>
                {(token.header as Tokens.TableCell[]).map((cell, n) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: the text is read anew as a whole
                  <th key={n} scope="col">
                    {inline(cell.tokens)}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {(token.rows as Tokens.TableCell[][]).map((row, n) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: the text is read anew as a whole
                <tr key={n}>
                  {row.map((cell, m) => (
                    // biome-ignore lint/suspicious/noArrayIndexKey: the text is read anew as a whole
                    <td key={m}>{inline(cell.tokens)}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </Wide>
      )
    case 'text':
      return token.tokens ? <span key={key}>{inline(token.tokens)}</span> : <span key={key}>{unescaped(token.text)}</span>
    default:
      // HTML too: it is shown as the text it is.
      return <p key={key}>{token.raw}</p>
  }
}

function Heading({ level, of }: { level: number; of: ReactNode }) {
  const Tag = `h${level}` as 'h3' | 'h4' | 'h5' | 'h6'
  return <Tag>{of}</Tag>
}

function List({ token, children }: { token: Tokens.Generic; children: ReactNode }) {
  if (!token.ordered) return <ul>{children}</ul>
  return typeof token.start === 'number' ? <ol start={token.start}>{children}</ol> : <ol>{children}</ol>
}

function span(token: Tokens.Generic, key: number): ReactNode {
  switch (token.type) {
    case 'strong':
      return <strong key={key}>{inline(token.tokens)}</strong>
    case 'em':
      return <em key={key}>{inline(token.tokens)}</em>
    case 'del':
      return <del key={key}>{inline(token.tokens)}</del>
    case 'codespan':
      return <code key={key}>{token.text}</code>
    case 'br':
      return <br key={key} />
    case 'escape':
      return token.text
    case 'image':
      return `[picture: ${token.text || token.href}]`
    case 'link': {
      const href = safeAddress(token.href, window.location.origin)
      if (href === undefined) return <span key={key}>{inline(token.tokens)}</span>
      const target = unsaidTarget(token.text ?? '', href)
      return (
        <span key={key}>
          <a href={href} target="_blank" rel="noopener noreferrer nofollow">
            {inline(token.tokens)}
          </a>
          {target !== undefined && <span className="small faint"> ({target})</span>}
        </span>
      )
    }
    case 'text':
      return token.tokens ? <span key={key}>{inline(token.tokens)}</span> : unescaped(token.text)
    default:
      return token.raw
  }
}

const entities: Record<string, string> = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'" }
/** Markdown knows signs by these names; the lexer leaves them to whoever draws. */
const unescaped = (text: string) => text.replaceAll(/&(?:amp|lt|gt|quot|#39);/g, (entity) => entities[entity]!)
