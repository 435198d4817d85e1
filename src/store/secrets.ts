import { sql } from 'kysely'
import type { Db, Tx } from './database.ts'

/** Which secret, and which of its values. */
export interface SecretId {
  readonly scope: string
  readonly name: string
  readonly version: number
}

/** A value that only the key with this fingerprint opens. */
export interface Sealed {
  readonly nonce: Buffer
  readonly sealed: Buffer
  readonly fingerprint: string
}

export type SealedSecret = SecretId & Sealed

export interface SecretEntry extends SecretId {
  readonly updatedAt: Date
  readonly updatedBy: string
}

const sealedColumns = sql`scope, name, version, nonce, sealed, key_fingerprint as fingerprint`

/** A number that no value has had. */
export async function nextSecretVersion(tx: Tx): Promise<number> {
  const { rows } = await sql<{ version: number }>`select nextval('pawl.secret_versions') as version`.execute(tx)
  return rows[0]!.version
}

export async function putSecret(tx: Tx, secret: SealedSecret, { at, by }: { at: Date; by: string }): Promise<void> {
  const { scope, name, version, nonce, sealed, fingerprint } = secret
  await sql`
    insert into pawl.secrets (scope, name, version, nonce, sealed, key_fingerprint, updated_at, updated_by)
    values (${scope}, ${name}, ${version}, ${nonce}, ${sealed}, ${fingerprint}, ${at}, ${by})
    on conflict (scope, name) do update set version = excluded.version, nonce = excluded.nonce, sealed = excluded.sealed,
      key_fingerprint = excluded.key_fingerprint, updated_at = excluded.updated_at, updated_by = excluded.updated_by
  `.execute(tx)
}

/** False if there is none. */
export async function deleteSecret(tx: Tx, scope: string, name: string): Promise<boolean> {
  const { rows } = await sql`delete from pawl.secrets where scope = ${scope} and name = ${name} returning name`.execute(tx)
  return rows.length === 1
}

/** All of a scope; answers their names. */
export async function deleteSecretsOf(tx: Tx, scope: string): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`delete from pawl.secrets where scope = ${scope} returning name`.execute(tx)
  return rows.map(({ name }) => name).sort()
}

export async function listSecrets(db: Db): Promise<SecretEntry[]> {
  const { rows } = await sql<SecretEntry>`
    select scope, name, version, updated_at as "updatedAt", updated_by as "updatedBy" from pawl.secrets
    order by name, scope
  `.execute(db)
  return rows
}

/** Every value of these names in any of these scopes. */
export async function findSecrets(db: Db, names: readonly string[], scopes: readonly string[]): Promise<SealedSecret[]> {
  const { rows } = await sql<SealedSecret>`
    select ${sealedColumns} from pawl.secrets where name = any(${[...names]}) and scope = any(${[...scopes]})
  `.execute(db)
  return rows
}

/** Every value of every scope. */
export async function allSecrets(db: Db): Promise<SealedSecret[]> {
  const { rows } = await sql<SealedSecret>`select ${sealedColumns} from pawl.secrets order by name, scope`.execute(db)
  return rows
}

/** The key stays what it is until the transaction ends. */
export async function lockKeys(tx: Tx): Promise<void> {
  await sql`lock table pawl.secrets in row exclusive mode`.execute(tx)
}

/** All of them, and nobody writes one until the transaction ends. */
export async function lockSecrets(tx: Tx): Promise<SealedSecret[]> {
  await sql`lock table pawl.secrets in share row exclusive mode`.execute(tx)
  const { rows } = await sql<SealedSecret>`select ${sealedColumns} from pawl.secrets order by name, scope`.execute(tx)
  return rows
}

export async function resealSecret(tx: Tx, { scope, name, nonce, sealed, fingerprint }: SealedSecret): Promise<void> {
  await sql`
    update pawl.secrets set nonce = ${nonce}, sealed = ${sealed}, key_fingerprint = ${fingerprint}
    where scope = ${scope} and name = ${name}
  `.execute(tx)
}

/** The fingerprints of the keys in use; one, unless somebody has mixed two stores. */
export async function secretFingerprints(db: Db | Tx): Promise<string[]> {
  const { rows } = await sql<{ fingerprint: string }>`
    select distinct key_fingerprint as fingerprint from pawl.secrets order by 1
  `.execute(db)
  return rows.map(({ fingerprint }) => fingerprint)
}
