import { z } from 'zod'
import type { Profile } from './profile.ts'
import { profileNames } from './profile.ts'

const texts = z.array(z.string()).readonly()
const lists = z.object({ allow: texts, ask: texts, deny: texts })
const absolute = z.string().startsWith('/', { error: 'must be an absolute path' })

/** A resolved profile as it is stored, and as a client sends it with an agent. Strict: a setting that this version does not know would hold nothing. */
export const ProfileSchema: z.ZodType<Profile> = z
  .strictObject({
    name: z.string(),
    base: z.enum(profileNames),
    walls: z.boolean(),
    rules: lists,
    otherwise: z.enum(['allow', 'ask', 'deny']),
    tools: z.object({ native: z.boolean(), disabled: texts }),
    mounts: z
      .array(
        z.object({
          name: z.string(),
          description: z.string(),
          source: absolute,
          path: absolute,
          mode: z.enum(['ro', 'rw']),
          persistent: z.boolean(),
          required: z.boolean(),
          alias: absolute.optional(),
          from: z.enum(['user', 'task']).optional(),
        }),
      )
      .readonly(),
    network: lists,
    env: z.object({ pass: texts, set: z.record(z.string(), z.string()) }),
    secrets: z.array(z.object({ name: z.string(), variable: z.string() })).readonly(),
    limits: z.object({
      processes: z.int().positive(),
      openFiles: z.int().positive(),
      memoryMb: z.int().positive(),
      fileMb: z.int().positive(),
      diskMb: z.int().positive(),
      outputMb: z.int().positive(),
    }),
    skills: texts,
    subagents: texts,
    mcpServers: texts.optional(),
    instructions: z.boolean(),
    trusted: z.array(z.object({ path: absolute, digest: z.string() })).readonly(),
    nestedNamespaces: z.boolean(),
    ssh: z
      .object({
        hosts: z
          .array(
            z.object({
              name: z.string(),
              host: z.string(),
              port: z.int().min(1).max(65535),
              user: z.string(),
              key: z.string(),
              hostKey: z.string(),
            }),
          )
          .readonly(),
        mode: z.enum(['readonly', 'operations', 'filtered_shell']),
        level: z.union([z.literal(0), z.literal(1), z.literal(2), z.literal(3)]),
      })
      .optional(),
  })
  .refine((profile) => profile.walls || profile.base === 'unattended-open', {
    path: ['walls'],
    error: 'must be true: only a profile that stands on unattended-open has no walls',
  })
