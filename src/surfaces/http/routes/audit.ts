import { createRoute, z } from '@hono/zod-openapi'
import { AuditVerdict, AuditView, auditActions } from '../../../domain/auth/audit.ts'
import { Name } from '../../../domain/id.ts'
import { type App, api, type Parts } from '../app.ts'
import { needs } from '../needs.ts'
import { json, pageOf, problems, strict } from '../schemas.ts'

const schemas = {
  AuditEntry: z.object(AuditView.shape).openapi('AuditEntry'),
  AuditVerdict: z.object(AuditVerdict.shape).openapi('AuditVerdict'),
}

const list = createRoute({
  method: 'get',
  path: `${api}/audit`,
  ...needs('administer'),
  summary: 'Who did what, newest first.',
  request: {
    query: strict({
      actor: Name.optional(),
      action: z.enum(auditActions).optional(),
      limit: z.coerce.number().int().min(1).max(1000).default(50),
      cursor: z.string().max(20).optional().openapi({ description: 'The `next` of an earlier page.' }),
    }),
  },
  responses: { 200: json(pageOf(schemas.AuditEntry), 'A page of entries.'), ...problems },
})

const verify = createRoute({
  method: 'get',
  path: `${api}/audit/verify`,
  ...needs('administer'),
  summary: 'Walk the chain of hashes and say where it breaks first, if it does.',
  request: {
    query: strict({
      contains: z
        .string()
        .regex(/^[0-9a-f]{64}$/, 'a hash has 64 hexadecimal digits')
        .optional()
        .openapi({ description: 'A hash that was noted elsewhere and must be in the chain.' }),
    }),
  },
  responses: { 200: json(schemas.AuditVerdict, 'The verdict.'), ...problems },
})

export function auditRoutes(app: App, { audit }: Parts): void {
  app.openapi(list, async (c) => c.json(await audit.list(c.req.valid('query')), 200))
  app.openapi(verify, async (c) => c.json(await audit.verify(c.req.valid('query')), 200))
}
