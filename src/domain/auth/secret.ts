import { z } from 'zod'

/** Secrets of the store, as every surface shows and takes them: a value goes in and is never shown again. */

/** Fits into one variable of a program, with room to spare: the system takes 128 KiB. */
export const maxSecretBytes = 64 * 1024

export const SecretName = z
  .string()
  .regex(
    /^[A-Za-z0-9_][A-Za-z0-9._-]{0,63}$/,
    'the name of a secret is letters, digits, dot, dash and underscore, and has at most 64 characters',
  )

/** For whom a secret is: everybody, the runs of one agent, or the runs of one user. */
export const SecretScope = z
  .string()
  .regex(
    /^(?:global|(?:agent|user):[A-Za-z0-9][A-Za-z0-9._:/@-]{0,99})$/,
    'the scope of a secret is global, agent:NAME or user:NAME',
  )

export const NewSecret = z.strictObject({ value: z.string().describe('Text of 1 byte to 64 KiB.') })
export type NewSecret = z.infer<typeof NewSecret>

export const SecretView = z.object({
  scope: z.string(),
  name: z.string(),
  updatedAt: z.iso.datetime(),
  updatedBy: z.string(),
})
export type SecretView = z.infer<typeof SecretView>

/** What is wrong with a value, as a sentence that does not repeat it; undefined if it can be kept. */
export function faultOfSecret(value: string): string | undefined {
  if (value === '') return 'A secret cannot be empty; to take it away, use "pawl secret rm".'
  if (value.includes('\0') || !value.isWellFormed())
    return 'This secret is no text: no variable can hold it. Store it in base64, and have the program decode it.'
  const bytes = new TextEncoder().encode(value).length
  if (bytes > maxSecretBytes)
    return `This secret has ${bytes} bytes, and at most ${maxSecretBytes} fit; store a key that opens it instead.`
  return undefined
}
