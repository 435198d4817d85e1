import { createRoute, z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { SignInCode } from '../../../domain/auth/token.ts'
import { type App, api, callerOf, type HttpEnv, type Parts } from '../app.ts'
import { cookieFor } from '../cookie.ts'
import { peerOf, tooOften } from '../gate.ts'
import { needs } from '../needs.ts'
import { page } from '../page.ts'
import { json, problems, strict } from '../schemas.ts'

const nothing = strict({})
const Code = z.string().regex(/^[\w-]{1,100}$/, 'a code is what "pawl sign-in" printed')
/** A path of ours: nothing that a browser could take for another host. */
const Destination = z.string().regex(/^\/(?:\w[\w/-]{0,200})?$/, 'a path of this page')
const html = (description: string) => ({ description, content: { 'text/html': { schema: z.string() } } })

const make = createRoute({
  method: 'post',
  path: `${api}/sign-in-codes`,
  ...needs('self'),
  summary: 'A code with which a browser becomes whoever asks here: once, within five minutes.',
  request: {
    query: nothing,
    body: {
      content: {
        'application/json': {
          schema: strict({
            opens: z.boolean().optional().describe('Signs in at once where it is opened, within a minute; the owner’s alone.'),
          }),
        },
      },
    },
  },
  responses: { 201: json(z.object(SignInCode.shape).openapi('SignInCode'), 'The code.'), ...problems },
})
const show = createRoute({
  method: 'get',
  path: '/sign-in',
  ...needs('open'),
  security: [],
  summary: 'The page that a code is taken to. Opening it spends nothing.',
  request: { query: strict({ code: Code.optional() }) },
  responses: { 200: html('A page with one button.'), ...problems },
})
const open = createRoute({
  method: 'get',
  path: '/open',
  ...needs('open'),
  security: [],
  summary: 'Spend a code that "pawl open" made, for a cookie that lasts twelve hours.',
  request: { query: strict({ code: Code }) },
  responses: { 200: html('Signed in; the cookie is in the head.'), 403: html('The code opens nothing.'), ...problems },
})
const exchange = createRoute({
  method: 'post',
  path: '/sign-in',
  ...needs('open'),
  security: [],
  summary: 'Spend a code for a cookie that lasts twelve hours.',
  request: {
    query: nothing,
    body: {
      required: true,
      content: { 'application/x-www-form-urlencoded': { schema: strict({ code: Code, to: Destination.optional() }) } },
    },
  },
  responses: { 200: html('Signed in; the cookie is in the head.'), 403: html('The code opens nothing.'), ...problems },
})
const leave = createRoute({
  method: 'post',
  path: '/sign-out',
  ...needs('leave'),
  summary: 'End this browser’s sign-in. A token that was shown in a header stays as it is.',
  request: { query: nothing },
  responses: { 200: html('Signed out.'), ...problems },
})

export function signInRoutes(app: App, { entrance, failures, isSecure, onDenied, page: built }: Parts): void {
  app.openapi(make, async (c) => c.json(await entrance.createSignInCode(callerOf(c), c.req.valid('json')), 201))
  app.openapi(show, (c) =>
    page(
      c,
      200,
      c.req.valid('query').code === undefined
        ? { text: 'Run "pawl sign-in" in a terminal and open the address it prints.' }
        : { text: 'Sign this browser in to Pawl?', code: c.req.valid('query').code },
    ),
  )
  app.openapi(exchange, async (c) => {
    const { code, to } = c.req.valid('form')
    return spend(c, await entrance.signIn(code), { again: 'pawl sign-in', to })
  })
  app.openapi(open, async (c) =>
    spend(c, await entrance.signIn(c.req.valid('query').code, { opens: true }), { again: 'pawl open' }),
  )
  app.openapi(leave, async (c) => {
    // A token in a header is not this browser's to end.
    if (c.req.header('authorization') === undefined) await entrance.signOut(c.get('principal'))
    c.header('Set-Cookie', cookieFor('', { isSecure: isSecure(), maxAgeS: 0 }))
    return page(c, 200, { text: 'You are signed out.' })
  })

  function spend(
    c: Context<HttpEnv>,
    signedIn: { session: string; user: string } | undefined,
    { again, to = '/' }: { again: string; to?: string | undefined },
  ): Response {
    if (!signedIn) {
      const peer = peerOf(c)
      onDenied({ peer, why: 'code', method: c.req.method, path: c.req.path })
      const waitS = failures.take(peer)
      if (waitS > 0) throw tooOften(waitS, 'There were too many codes from here that open nothing')
      return page(c, 403, { text: `This code was used, is too old, or never was. Run "${again}" again.` })
    }
    c.header('Set-Cookie', cookieFor(signedIn.session, { isSecure: isSecure(), maxAgeS: 12 * 3_600 }))
    // The code must not stay in the address.
    return built ? c.redirect(to, 303) : page(c, 200, { text: `You are signed in as ${signedIn.user}.` })
  }
}
