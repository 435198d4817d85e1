import type { Clock } from '../../base/clock.ts'
import type { KeyPlace } from '../../domain/agent/models.ts'
import type { Secret } from '../../domain/base/secret-names.ts'
import { messageOf, PawlError, unavailable } from '../../domain/error.ts'
import { isAbsence } from '../../sandbox/files/directory-handle.ts'
import { readNamedFile } from '../../sandbox/files/read-file.ts'
import type { RunServices } from '../base/run-services.ts'

export interface KeyParts extends Pick<RunServices, 'environment' | 'secretsFor'> {
  readonly clock: Clock
}

/** A secret is asked of the database, where others may change it; not for each of hundreds of calls in a minute. */
const secretMs = 10_000

/** Reads a provider's key anew whenever it is asked, so that a changed one counts at once. Rejects with a `PawlError` that says where none is. */
export function keyReader(
  provider: string,
  place: KeyPlace | undefined,
  whom: { agent: string; user: string },
  parts: KeyParts,
): () => Promise<Secret | undefined> {
  if (!place) return async () => undefined
  const name = nameOf(provider, place)
  if ('env' in place)
    return async () => {
      const value = parts.environment([place.env])[place.env]?.trim()
      if (!value) throw unavailable(`The key of provider "${provider}" is to be in ${place.env}, which is not set for Pawl.`)
      return { name, value }
    }
  if ('file' in place)
    return async () => {
      const text = await readNamedFile(place.file).catch((error: unknown) => {
        throw unavailable(
          isAbsence(error)
            ? `The key of provider "${provider}" is to be in the file ${place.file}, which is not there.`
            : `The key file of provider "${provider}" cannot be read: ${messageOf(error)}.`,
        )
      })
      const value = text.trim()
      if (value === '' || /[\0\r\n]/.test(value))
        throw unavailable(`The key file ${place.file} of provider "${provider}" holds no key; put the key in it, alone.`)
      return { name, value }
    }
  let known: { readonly secret: Secret; readonly untilMs: number } | undefined
  return async () => {
    if (known && known.untilMs > parts.clock.monotonic()) return known.secret
    const [given] = await parts.secretsFor([{ name: place.secret, variable: place.secret }], whom).catch((error: unknown) => {
      if (!(error instanceof PawlError) || error.code !== 'not_found') throw error
      throw unavailable(
        `The key of provider "${provider}" is to be the secret "${place.secret}"; set it: pawl secret set ${place.secret}`,
      )
    })
    const secret = { name, value: given!.value.trim() }
    known = { secret, untilMs: parts.clock.monotonic() + secretMs }
    return secret
  }
}

/** How the key is spoken of where it is left out of something. */
const nameOf = (provider: string, place: KeyPlace) =>
  'env' in place ? place.env : 'secret' in place ? place.secret : `key of ${provider}`
