import { createRoute, z } from '@hono/zod-openapi'
import { MadeToken, Me, NewToken, NewUser, TokenView, UserChanges, UserView } from '../../../domain/auth/token.ts'
import { Name, TokenId } from '../../../domain/id.ts'
import { type App, api, callerOf, type Parts } from '../app.ts'
import { needs } from '../needs.ts'
import { json, problems, strict } from '../schemas.ts'

const schemas = {
  NewUser: strict(NewUser.shape).openapi('NewUser'),
  UserChanges: strict(UserChanges.shape).openapi('UserChanges'),
  User: z.object(UserView.shape).openapi('User'),
  NewToken: strict(NewToken.shape).openapi('NewToken'),
  Token: z.object(TokenView.shape).openapi('Token'),
  MadeToken: z.object(MadeToken.shape).openapi('MadeToken'),
  Me: z.object(Me.shape).openapi('Me'),
}
const nothing = strict({})
const UserPath = z.object({ name: Name })
const all = <T extends z.ZodType>(item: T) => json(z.object({ items: z.array(item), next: z.null() }), 'All of them.')
const bodyOf = <T extends z.ZodType>(schema: T) => ({ required: true, content: { 'application/json': { schema } } })

const me = createRoute({
  method: 'get',
  path: `${api}/me`,
  ...needs('leave'),
  summary: 'As whom this token comes in.',
  request: { query: nothing },
  responses: { 200: json(schemas.Me, 'You.'), ...problems },
})
const listUsers = createRoute({
  method: 'get',
  path: `${api}/users`,
  ...needs('administer'),
  summary: 'Who may come in.',
  request: { query: nothing },
  responses: { 200: all(schemas.User), ...problems },
})
const createUser = createRoute({
  method: 'post',
  path: `${api}/users`,
  ...needs('administer'),
  summary: 'Let somebody in. They need a token next.',
  request: { query: nothing, body: bodyOf(schemas.NewUser) },
  responses: { 201: json(schemas.User, 'The user.'), ...problems },
})
const setUser = createRoute({
  method: 'patch',
  path: `${api}/users/{name}`,
  ...needs('administer'),
  summary: 'Change what a user may do; what is left out stays.',
  request: { params: UserPath, query: nothing, body: bodyOf(schemas.UserChanges) },
  responses: { 200: json(schemas.User, 'The user, changed.'), ...problems },
})
const removeUser = createRoute({
  method: 'delete',
  path: `${api}/users/{name}`,
  ...needs('administer'),
  summary: 'Remove a user. Their tokens end with them, their tasks stay.',
  request: { params: UserPath, query: nothing },
  responses: { 200: json(z.object({ removed: z.string() }), 'They are gone.'), ...problems },
})
const listTokens = createRoute({
  method: 'get',
  path: `${api}/tokens`,
  ...needs('administer'),
  summary: 'What lets somebody in, newest first; never the tokens themselves.',
  request: {
    query: strict({
      user: Name.optional(),
      all: z.enum(['true', 'false']).optional().openapi({ description: 'Also those that open nothing any more.' }),
    }),
  },
  responses: { 200: all(schemas.Token), ...problems },
})
const createToken = createRoute({
  method: 'post',
  path: `${api}/tokens`,
  ...needs('administer'),
  summary: 'Make a token. It is shown this once.',
  request: { query: nothing, body: bodyOf(schemas.NewToken) },
  responses: { 201: json(schemas.MadeToken, 'The token.'), ...problems },
})
const revokeToken = createRoute({
  method: 'delete',
  path: `${api}/tokens/{id}`,
  ...needs('administer'),
  summary:
    'Revoke a token, a signed-in browser included: at once here, within a second in other processes. Asking twice is fine.',
  request: { params: z.object({ id: TokenId }), query: nothing },
  responses: { 200: json(schemas.Token, 'The token, revoked.'), ...problems },
})

export function userRoutes(app: App, { entrance }: Parts): void {
  app.openapi(me, (c) => {
    const { user, standing, token } = c.get('principal')
    return c.json({ user, standing, token }, 200)
  })
  app.openapi(listUsers, async (c) => c.json({ items: await entrance.listUsers(), next: null }, 200))
  app.openapi(createUser, async (c) => {
    const user = await entrance.createUser(c.req.valid('json'), callerOf(c))
    return c.json(user, 201, { Location: `${api}/users/${user.name}` })
  })
  app.openapi(setUser, async (c) =>
    c.json(await entrance.setUser(c.req.valid('param').name, c.req.valid('json'), callerOf(c)), 200),
  )
  app.openapi(removeUser, async (c) => {
    const { name } = c.req.valid('param')
    await entrance.removeUser(name, callerOf(c))
    return c.json({ removed: name }, 200)
  })
  app.openapi(listTokens, async (c) => {
    const { user, all } = c.req.valid('query')
    return c.json({ items: await entrance.listTokens({ user, all: all === 'true' }), next: null }, 200)
  })
  app.openapi(createToken, async (c) => c.json(await entrance.createToken(c.req.valid('json'), callerOf(c)), 201))
  app.openapi(revokeToken, async (c) => c.json(await entrance.revokeToken(c.req.valid('param').id, callerOf(c)), 200))
}
