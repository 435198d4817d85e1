import type { Context } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type { Log } from '../../base/log.ts'
import type { HttpEnv } from './app.ts'
import { problemResponse, readProblem } from './errors.ts'
import { page } from './page.ts'
import type { PageFiles } from './page-files.ts'
import { sendPageFile } from './send-page-file.ts'

/** What is refused is told to a program as a problem, and to whoever opened an address in a browser as a page. */
export function refuse(
  c: Context<HttpEnv>,
  thrown: unknown,
  { log, page: built }: { log: Log; page?: PageFiles | undefined },
): Response {
  if (!isOpenedByPerson(c)) return problemResponse(thrown, log)
  const { problem, headers } = readProblem(thrown, log)
  for (const [name, value] of Object.entries(headers)) c.header(name, value)
  const { status, detail } = problem
  const { path } = c.req
  if (status === 401)
    return built
      ? sendPageFile(c, built.shell, 401)
      : page(c, 401, {
          text: 'This browser is not signed in. Run "pawl sign-in" in a terminal and enter its code here.',
          code: { ask: true },
        })
  // The page knows that there is no such screen, and has the way back.
  if (status === 404 && built && !path.startsWith('/api/')) return sendPageFile(c, built.shell, 404)
  const isFromElsewhere = status === 403 && !['same-origin', 'none'].includes(c.req.header('sec-fetch-site') ?? 'none')
  if (isFromElsewhere)
    // A step from our own page on, it is a request like any other.
    return page(c, 403, {
      text: 'The link to this address stands on a page that is not of Pawl.',
      link: { to: `${path}${new URL(c.req.url).search}`, says: `Open ${path} all the same` },
    })
  return page(c, status as ContentfulStatusCode, {
    text: detail,
    link: status === 421 || status === 400 ? undefined : { to: '/', says: 'Go to what needs you now' },
  })
}

/** Programs do not ask for pages by name; what a browser sends of a form says that it leads somewhere. */
function isOpenedByPerson(c: Context<HttpEnv>): boolean {
  const mode = c.req.header('sec-fetch-mode')
  if (!(c.req.header('accept') ?? '').includes('text/html')) return false
  return mode === 'navigate' || (mode === undefined && c.req.method === 'GET')
}
