import { z } from 'zod'
import { namesSecret } from '../domain/base/secret-names.ts'

/** What the name of a variable looks like. */
export const variable = /^[A-Za-z_][A-Za-z0-9_]*$/
const isOurs = (name: string) => name.startsWith('PAWL_')
const listed = 'must be a list of variable names to pass on (NAME) or to set (NAME=value), none of them starting with PAWL_'
const mapped = 'must be a map of variable names to fixed values, none of them starting with PAWL_'
const keyInside =
  'must not hold a key, which would be stored with every task: pass it on by its name alone, or keep it with "pawl secret set" and name it under "secrets" of a profile'
const isPlain = (value: string) => !value.includes('\0')

/** What an agent's program finds in its environment: a list (`NAME` passes on, `NAME=value` sets) or a map of fixed values. */
export const Env = z
  .union(
    [
      z
        .array(z.string())
        .refine((items) => items.every((item) => variable.test(item.split('=')[0]!) && !isOurs(item) && isPlain(item)), {
          error: listed,
        })
        .transform((items) => ({
          pass: items.filter((item) => !item.includes('=')),
          set: Object.fromEntries(
            items
              .filter((item) => item.includes('='))
              .map((item) => [item.slice(0, item.indexOf('=')), item.slice(item.indexOf('=') + 1)]),
          ),
        })),
      z
        .record(z.string(), z.union([z.string(), z.number(), z.boolean()]))
        .refine(
          (map) => Object.entries(map).every(([key, value]) => variable.test(key) && !isOurs(key) && isPlain(String(value))),
          {
            error: mapped,
          },
        )
        .transform((map) => ({
          pass: [] as string[],
          set: Object.fromEntries(Object.entries(map).map(([key, value]) => [key, String(value)])),
        })),
    ],
    {
      error:
        'must be a list (NAME passes a variable on, NAME=value sets it) or a map of fixed values; names start with a letter, not with PAWL_',
    },
  )
  .refine(({ set }) => !Object.keys(set).some(namesSecret), { error: keyInside })
