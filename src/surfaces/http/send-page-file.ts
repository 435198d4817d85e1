import type { Context } from 'hono'
import type { HttpEnv } from './app.ts'
import type { PageFile } from './page-files.ts'

/** The one answer that runs scripts: those of the built page, under its policy. */
export function sendPageFile(c: Context<HttpEnv>, file: PageFile, status: 200 | 401 | 404 = 200): Response {
  return c.body(file.content, status, {
    'Content-Type': file.type,
    'Content-Security-Policy': policy,
    'Cache-Control': file.isFixed ? 'public, max-age=31536000, immutable' : 'no-cache',
    // Without a referrer a browser sends the form of the sign-in as from nowhere ("Origin: null"), which is refused like any other origin.
    'Referrer-Policy': 'same-origin',
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Permissions-Policy': 'camera=(), microphone=(), geolocation=()',
  })
}

/** Scripts and styles are our own files; nothing is inline, nothing comes from elsewhere, and no text is made into a script. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "worker-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  // The one policy of the page, which names its service worker.
  'trusted-types pawl',
].join('; ')
