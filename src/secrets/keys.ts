import { conflict, notFound, unavailable } from '../domain/error.ts'
import type { KeySource } from './key-source.ts'
import { fingerprintOf } from './seal.ts'

export interface Key {
  readonly bytes: Buffer
  readonly fingerprint: string
}

/** The key that fits what is stored. Asked for once and kept, since a keychain may take its time; asked again when it no longer fits. */
export interface Keys {
  /** `inUse` are the fingerprints that the rows name. Where there are none, a key is made if we may make one. */
  current(inUse: readonly string[]): Promise<Key>
  /** Ends a change of keys that was cut short after everything was sealed anew. Only for whoever holds the table against another change. */
  settle(inUse: readonly string[]): Promise<void>
}

export function createKeys(source: KeySource): Keys {
  let kept: Key | undefined
  const named = (bytes: Buffer): Key => ({ bytes, fingerprint: fingerprintOf(bytes) })
  const stagedFor = async (wanted: string | undefined) => {
    const staged = wanted === undefined ? undefined : await source.own?.staged()
    return staged && fingerprintOf(staged) === wanted ? named(staged) : undefined
  }

  return {
    async settle(inUse) {
      if (await stagedFor(inUse[0])) await source.own!.promote()
    },

    async current(inUse) {
      kept = await find(inUse)
      return kept
    },
  }

  async function find(inUse: readonly string[]): Promise<Key> {
    if (inUse.length > 1)
      throw conflict(
        `The secrets of this database were stored under ${inUse.length} different keys (${inUse.join(', ')}), which only a mix of two stores explains. Remove those of one of them, or restore the database.`,
      )
    const [wanted] = inUse
    if (kept && kept.fingerprint === wanted) return kept
    const read = await source.read()
    const found = read && named(read)
    if (found && (wanted === undefined || found.fingerprint === wanted)) return found
    const staged = await stagedFor(wanted)
    if (staged) return staged
    if (found)
      throw unavailable(
        `The key in ${source.place} (${found.fingerprint}) is not the one the secrets were stored with (${wanted}). Put that one back, or give it to "pawl secret rekey --from FILE".`,
      )
    if (wanted !== undefined)
      throw unavailable(
        `There is no key in ${source.place}, and the stored secrets cannot be read without it (${wanted}). Put it back from your copy; if there is none, remove the secrets with "pawl secret rm" and set them anew.`,
      )
    if (!source.own) throw notFound(`There is no key in ${source.place} to store secrets with. ${source.cure}`)
    return named(await source.own.make())
  }
}
