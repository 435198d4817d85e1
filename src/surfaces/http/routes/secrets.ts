import { createRoute, z } from '@hono/zod-openapi'
import { NewSecret, SecretName, SecretScope, SecretView } from '../../../domain/auth/secret.ts'
import { PawlError } from '../../../domain/error.ts'
import { type App, api, callerOf, type Parts } from '../app.ts'
import { needs } from '../needs.ts'
import { json, problems, strict } from '../schemas.ts'

const schemas = {
  NewSecret: strict(NewSecret.shape).openapi('NewSecret'),
  Secret: z.object(SecretView.shape).openapi('Secret'),
}
const nothing = strict({})
const SecretPath = z.object({ scope: SecretScope, name: SecretName })
const path = `${api}/secrets/{scope}/{name}`

const list = createRoute({
  method: 'get',
  path: `${api}/secrets`,
  ...needs('administer'),
  summary: 'Which secrets there are, and for whom; never their values.',
  request: { query: nothing },
  responses: { 200: json(z.object({ items: z.array(schemas.Secret), next: z.null() }), 'All of them.'), ...problems },
})
const show = createRoute({
  method: 'get',
  path,
  ...needs('administer'),
  summary: 'One secret without its value, which is never shown again.',
  request: { params: SecretPath, query: nothing },
  responses: { 200: json(schemas.Secret, 'The secret.'), ...problems },
})
const set = createRoute({
  method: 'put',
  path,
  ...needs('administer'),
  summary: 'Store a secret, in place of the one there was. Runs whose profile names it are given it from now on.',
  request: {
    params: SecretPath,
    query: nothing,
    body: { required: true, content: { 'application/json': { schema: schemas.NewSecret } } },
  },
  responses: { 200: json(schemas.Secret, 'The secret, without its value.'), ...problems },
})
const remove = createRoute({
  method: 'delete',
  path,
  ...needs('administer'),
  summary: 'Remove a secret for good.',
  request: { params: SecretPath, query: nothing },
  responses: { 200: json(z.object({ removed: z.string() }), 'It is gone.'), ...problems },
})

export function secretRoutes(app: App, parts: Parts): void {
  const secrets = () => {
    if (!parts.secrets) throw new PawlError('unsupported', 'This server keeps no secrets.')
    return parts.secrets
  }
  app.openapi(list, async (c) => c.json({ items: await secrets().listSecrets(), next: null }, 200))
  app.openapi(show, async (c) => {
    const { scope, name } = c.req.valid('param')
    return c.json(await secrets().getSecret(scope, name), 200)
  })
  app.openapi(set, async (c) => {
    const { scope, name } = c.req.valid('param')
    return c.json(await secrets().setSecret(scope, name, c.req.valid('json').value, callerOf(c)), 200)
  })
  app.openapi(remove, async (c) => {
    const { scope, name } = c.req.valid('param')
    await secrets().removeSecret(scope, name, callerOf(c))
    return c.json({ removed: name }, 200)
  })
}
