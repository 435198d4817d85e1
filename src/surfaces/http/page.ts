import type { Context } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type { HttpEnv } from './app.ts'

/** A page of one sentence and at most one form and one link. No script, one style of our own, nothing from elsewhere; its form goes back to us alone. */
const policy = "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

export interface PlainPage {
  readonly text: string
  /** A code to sign in with, or `ask` for a field that takes one. */
  readonly code?: string | { readonly ask: true } | undefined
  readonly link?: { readonly to: string; readonly says: string } | undefined
}

export function page(c: Context<HttpEnv>, status: ContentfulStatusCode, { text, code, link }: PlainPage): Response {
  const field =
    typeof code === 'string'
      ? `<input type="hidden" name="code" value="${escaped(code)}">`
      : '<label for="code">Code</label> <input id="code" name="code" required autocomplete="one-time-code">'
  const form = code === undefined ? '' : `<form method="post" action="/sign-in">${field} <button>Sign in</button></form>`
  const way = link === undefined ? '' : `<p><a href="${escaped(link.to)}">${escaped(link.says)}</a></p>`
  c.header('Content-Security-Policy', policy)
  // Without a referrer a browser sends the form as from nowhere ("Origin: null"), which is refused like any other origin.
  if (code !== undefined) c.header('Referrer-Policy', 'same-origin')
  return c.html(
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Pawl</title><link rel="stylesheet" href="/plain.css"></head><body><main><h1>Pawl</h1><p>${escaped(text)}</p>${form}${way}</main></body></html>`,
    status,
  )
}

export const plainStyle = `:root { color-scheme: light dark; }
body { margin: 0; font: 16px/1.5 system-ui, sans-serif; background: light-dark(#f7f7f5, #16181b); color: light-dark(#1d2022, #e6e8ea); }
main { max-width: 34rem; margin: 15vh auto 0; padding: 0 1.25rem; } h1 { font-size: 1.25rem; } p { overflow-wrap: anywhere; }
a { color: light-dark(#1a5e59, #6fc3ba); } form { display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; }
input, button { font: inherit; padding: .4rem .7rem; border-radius: 8px; border: 1px solid light-dark(#8b8f93, #70777e); background: light-dark(#fff, #1e2125); color: inherit; min-width: 0; }
button { border-color: light-dark(#1a5e59, #6fc3ba); background: light-dark(#1a5e59, #6fc3ba); color: light-dark(#fff, #0d1b1a); cursor: pointer; }
:focus-visible { outline: 2px solid light-dark(#1a5e59, #6fc3ba); outline-offset: 2px; }
`

const signs: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
const escaped = (text: string) => text.replaceAll(/[&<>"']/g, (sign) => signs[sign]!)
