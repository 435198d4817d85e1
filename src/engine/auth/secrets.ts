import type { Clock } from '../../base/clock.ts'
import { faultOfSecret, SecretName, SecretScope, type SecretView } from '../../domain/auth/secret.ts'
import type { Secret } from '../../domain/base/secret-names.ts'
import { invalid, notFound } from '../../domain/error.ts'
import type { Profile } from '../../domain/profile/profile.ts'
import { makeKey, readKeyFile } from '../../secrets/key-file.ts'
import type { KeySource } from '../../secrets/key-source.ts'
import { createKeys } from '../../secrets/keys.ts'
import { fingerprintOf, seal, unseal } from '../../secrets/seal.ts'
import type { Db, Tx } from '../../store/database.ts'
import * as store from '../../store/secrets.ts'
import type { GivenSecret } from '../base/run-services.ts'
import { translateDbErrors } from '../base/translate-db-errors.ts'
import type { Caller } from './audit.ts'

/** What can be done about secrets from outside. A value goes in and never comes out again. Each refuses with a `PawlError`. */
export interface SecretVerbs {
  listSecrets(): Promise<SecretView[]>
  getSecret(scope: string, name: string): Promise<SecretView>
  /** In place of the one there was, if there was one. */
  setSecret(scope: string, name: string, value: string, caller: Caller): Promise<SecretView>
  /** It is gone: nothing brings the value back. */
  removeSecret(scope: string, name: string, caller: Caller): Promise<void>
}

export interface Secrets extends SecretVerbs {
  /** What a run is given: for each secret that its profile names, the value of the narrowest scope. Rejects if one is missing. */
  resolve(wanted: Profile['secrets'], run: { agent: string; user: string }): Promise<GivenSecret[]>
  /** Every value of every scope, to be hidden. Rejects if the key cannot be had. */
  all(): Promise<Secret[]>
  /**
   * Seals every secret with a new key, all of them or none. `from` is the file of the key they were stored with, if that is not where the settings say; then the
   * key that the settings name becomes theirs. Answers how many there are.
   */
  rekey(caller: Caller, options?: { from?: string | undefined }): Promise<{ secrets: number; fingerprint: string }>
}

export type SecretAction = 'secret.set' | 'secret.remove' | 'secret.rekey'

export interface SecretParts {
  readonly db: Db
  readonly keySource: KeySource
  readonly clock: Clock
  /** Writes the act into the audit, in the transaction of the act itself. */
  readonly audit: (
    tx: Tx,
    act: { caller: Caller; action: SecretAction; subject: string; detail?: Record<string, unknown> },
  ) => Promise<void>
}

export const globalScope = 'global'

export function createSecrets({ db, keySource, clock, audit }: SecretParts): Secrets {
  const keys = createKeys(keySource)
  const list = async () => (await translateDbErrors(() => store.listSecrets(db))).map(view)
  const transact = <T>(work: (tx: Tx) => Promise<T>) => translateDbErrors(() => db.transaction().execute(work))
  const missing = (scope: string, name: string) =>
    notFound(`There is no secret "${name}" of the scope ${scope}; "pawl secret ls" lists those there are.`)

  const getSecret: Secrets['getSecret'] = async (scope, name) => {
    const found = (await list()).find((each) => each.scope === scope && each.name === name)
    if (!found) throw missing(scope, name)
    return found
  }

  return {
    listSecrets: list,
    getSecret,

    async setSecret(scope, name, value, caller) {
      check(scope, name)
      const fault = faultOfSecret(value)
      if (fault !== undefined) throw invalid(fault)
      await transact(async (tx) => {
        await store.lockKeys(tx)
        const inUse = await store.secretFingerprints(tx)
        await keys.settle(inUse)
        const { bytes } = await keys.current(inUse)
        const id = { scope, name, version: await store.nextSecretVersion(tx) }
        const by = caller.user ?? caller.by
        await store.putSecret(tx, { ...id, ...seal(value, id, bytes) }, { at: new Date(clock.now()), by })
        await audit(tx, { caller, action: 'secret.set', subject: `${scope} ${name}` })
      })
      return getSecret(scope, name)
    },

    async removeSecret(scope, name, caller) {
      await transact(async (tx) => {
        if (!(await store.deleteSecret(tx, scope, name))) throw missing(scope, name)
        await audit(tx, { caller, action: 'secret.remove', subject: `${scope} ${name}` })
      })
    },

    async resolve(wanted, { agent, user }) {
      if (wanted.length === 0) return []
      const scopes = [`user:${user}`, `agent:${agent}`, globalScope]
      const names = [...new Set(wanted.map(({ name }) => name))]
      // A run waits for a database that is away; whoever is refused in a sentence would not.
      const found = await store.findSecrets(db, names, scopes)
      const narrowest = new Map<string, store.SealedSecret>()
      for (const secret of found.sort((a, b) => scopes.indexOf(b.scope) - scopes.indexOf(a.scope)))
        narrowest.set(secret.name, secret)
      for (const name of names) if (!narrowest.has(name)) throw notSet(name, agent, user)
      const inUse = [...new Set([...narrowest.values()].map(({ fingerprint }) => fingerprint))]
      const { bytes } = await keys.current(inUse)
      return wanted.map(({ name, variable }) => ({ name, variable, value: unseal(narrowest.get(name)!, bytes) }))
    },

    async all() {
      const stored = await store.allSecrets(db)
      if (stored.length === 0) return []
      const { bytes } = await keys.current([...new Set(stored.map(({ fingerprint }) => fingerprint))])
      return stored.map((secret) => ({ name: secret.name, value: unseal(secret, bytes) }))
    },

    async rekey(caller, { from } = {}) {
      const { own } = keySource
      if (from === undefined && !own)
        throw invalid(
          `The key comes from ${keySource.place}, where Pawl does not change it. Save the present key in a file, put a new one in its place, then run: pawl secret rekey --from FILE`,
        )
      const done = await transact(async (tx) => {
        const secrets = await store.lockSecrets(tx)
        if (secrets.length === 0) throw notFound('There are no secrets yet, so none needs another key.')
        const inUse = [...new Set(secrets.map(({ fingerprint }) => fingerprint))]
        await keys.settle(inUse)
        const old = from === undefined ? (await keys.current(inUse)).bytes : await oldKey(from, secrets)
        const key = from === undefined ? makeKey() : await keySource.read()
        if (!key) throw notFound(`There is no key in ${keySource.place} to store the secrets with. ${keySource.cure}`)
        const fingerprint = fingerprintOf(key)
        for (const secret of secrets) await store.resealSecret(tx, { ...secret, ...seal(unseal(secret, old), secret, key) })
        await audit(tx, { caller, action: 'secret.rekey', subject: fingerprint, detail: { secrets: secrets.length } })
        // On disk before the secrets need it.
        if (from === undefined) await own!.stage(key)
        return { secrets: secrets.length, fingerprint }
      })
      await transact(async (tx) => {
        await store.lockSecrets(tx)
        await keys.settle(await store.secretFingerprints(tx))
      })
      return done
    },
  }
}

/** Surfaces check names before; whoever calls this directly might not, and a name becomes part of command lines and addresses. */
function check(scope: string, name: string): void {
  for (const checked of [SecretScope.safeParse(scope), SecretName.safeParse(name)])
    if (!checked.success) throw invalid(`This is not possible: ${checked.error.issues[0]!.message}.`)
}

const notSet = (name: string, agent: string, user: string) =>
  notFound(
    `The profile gives the program the secret "${name}", which is set neither for the user "${user}" nor for the agent "${agent}" nor for all. Set it: pawl secret set ${name}`,
  )

async function oldKey(file: string, secrets: readonly store.SealedSecret[]): Promise<Buffer> {
  const key = await readKeyFile(file)
  if (!key) throw notFound(`There is no file ${file}; name the file of the key that the secrets were stored with.`)
  const other = secrets.find(({ fingerprint }) => fingerprint !== fingerprintOf(key))
  if (other)
    throw invalid(
      `The key in ${file} (${fingerprintOf(key)}) is not the one that the secret "${other.name}" was stored with (${other.fingerprint}).`,
    )
  return key
}

const view = ({ scope, name, updatedAt, updatedBy }: store.SecretEntry): SecretView => ({
  scope,
  name,
  updatedAt: updatedAt.toISOString(),
  updatedBy,
})
