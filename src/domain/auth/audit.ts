import { z } from 'zod'
import type { AuditAction } from './audit-actions.ts'

export { type AuditAction, auditActions } from './audit-actions.ts'

/** One entry on its way into the audit. `detail` holds no secret: whoever writes it has taken them out. */
export interface AuditEntry {
  readonly at: Date
  /** The user, or whoever else acted. */
  readonly actor: string
  /** The token that was used, or the program that acted for its own user. */
  readonly via: string
  readonly action: AuditAction
  readonly subject: string
  readonly detail: Readonly<Record<string, unknown>>
}

export const AuditView = z.object({
  seq: z.number().describe('Its place in the chain, without gaps.'),
  at: z.iso.datetime(),
  actor: z.string(),
  via: z.string(),
  action: z.string(),
  subject: z.string(),
  detail: z.record(z.string(), z.unknown()),
  hash: z.string().describe('SHA-256 of the hash before it and of this entry, in hexadecimal.'),
})
export type AuditView = z.infer<typeof AuditView>

export const AuditVerdict = z.object({
  isWhole: z.boolean(),
  entries: z.number().describe('How many were looked at.'),
  head: z
    .string()
    .nullable()
    .describe('The last hash. Keep a copy elsewhere: with it a chain that was written anew is found out.'),
  firstBad: z.object({ seq: z.number(), why: z.string() }).nullable(),
})
export type AuditVerdict = z.infer<typeof AuditVerdict>
