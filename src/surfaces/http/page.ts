import type { Context } from 'hono'
import type { HttpEnv } from './app.ts'

/** A page of one sentence and at most one button. No script, no style, nothing from elsewhere; its form goes back to us alone. */
const policy = "default-src 'none'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

export function page(
  c: Context<HttpEnv>,
  status: 200 | 403,
  { text, code }: { text: string; code?: string | undefined },
): Response {
  const form =
    code === undefined
      ? ''
      : `<form method="post" action="/sign-in"><input type="hidden" name="code" value="${escaped(code)}"><button>Sign in</button></form>`
  c.header('Content-Security-Policy', policy)
  return c.html(
    `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Pawl</title><h1>Pawl</h1><p>${escaped(text)}</p>${form}</html>`,
    status,
  )
}

const signs: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
const escaped = (text: string) => text.replaceAll(/[&<>"']/g, (sign) => signs[sign]!)
