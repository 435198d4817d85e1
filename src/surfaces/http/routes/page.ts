import type { Context } from 'hono'
import type { App, HttpEnv, Parts } from '../app.ts'
import { addPage } from '../needs.ts'
import { page as plainPage } from '../page.ts'
import type { PageFile } from '../page-files.ts'

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
].join('; ')

/** The page itself. It is nobody's secret: what it shows, it asks for with the sign-in of its browser. */
export function pageRoutes(app: App, { page }: Parts): void {
  if (!page) {
    addPage(app, '/', (c) =>
      plainPage(c, 200, { text: 'Pawl runs. Its page was not built: run "npm run build" in the checkout and start it again.' }),
    )
    return
  }
  const { shell, files, screens } = page
  for (const path of screens) addPage(app, path.replaceAll('$', ':'), (c) => send(c, shell))
  for (const [path, file] of files) addPage(app, path, (c) => send(c, file))
}

function send(c: Context<HttpEnv>, file: PageFile): Response {
  return c.body(file.content, 200, {
    'Content-Type': file.type,
    'Content-Security-Policy': policy,
    'Cache-Control': file.isFixed ? 'public, max-age=31536000, immutable' : 'no-cache',
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Permissions-Policy': 'camera=(), microphone=(), geolocation=()',
  })
}
