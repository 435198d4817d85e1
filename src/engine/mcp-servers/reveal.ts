import { namesSecret, type Secret } from '../../domain/base/secret-names.ts'
import { messageOf, PawlError, unavailable } from '../../domain/error.ts'
import { readNamedFile } from '../../sandbox/files/read-file.ts'
import type { Revealed } from '../../tools/servers/port.ts'
import type { RunServices } from '../base/run-services.ts'

export interface RevealParts extends Pick<RunServices, 'environment' | 'secretsFor'> {
  hide(secrets: readonly Secret[]): void
}

const reference = /\$\{([^}]*)\}/g

/** Puts in what a setting of a server only names. Rejects with a `PawlError` that says which of it is missing, and never what it is. */
export function revealer(
  whom: { readonly agent: string; readonly user: string },
  parts: RevealParts,
): (text: string) => Promise<Revealed> {
  return async (text) => {
    const found = new Map<string, { readonly value: string; readonly isSecret: boolean }>()
    for (const [, inside] of text.matchAll(reference)) if (!found.has(inside!)) found.set(inside!, await meantBy(inside!))
    const secrets = [...found].filter(([, { isSecret }]) => isSecret)
    parts.hide(secrets.map(([name, { value }]) => ({ name: name.replace(/^\w+:/, ''), value })))
    return {
      text: text.replaceAll(reference, (_, inside: string) => found.get(inside)!.value),
      secrets: secrets.map(([, { value }]) => value),
    }
  }

  async function meantBy(inside: string): Promise<{ value: string; isSecret: boolean }> {
    const [, kind, name = ''] = /^(secret|file|env):(.*)$/s.exec(inside) ?? []
    if (kind === 'secret') {
      const [given] = await parts.secretsFor([{ name, variable: name }], whom).catch((error: unknown) => {
        if (!(error instanceof PawlError) || error.code !== 'not_found') throw error
        throw unavailable(`The secret "${name}", which its settings name, is not set: pawl secret set ${name}`)
      })
      return { value: given!.value.trim(), isSecret: true }
    }
    if (kind === 'file') {
      const text = await readNamedFile(name).catch((error: unknown) => {
        throw unavailable(`The file ${name}, which its settings name, cannot be read: ${messageOf(error)}.`)
      })
      return { value: text.trim(), isSecret: true }
    }
    const [, variable = '', otherwise] = /^(?:env:)?(\w+)(?::-(.*))?$/s.exec(inside) ?? []
    const value = parts.environment([variable])[variable] ?? otherwise
    if (value === undefined)
      throw unavailable(`The variable ${variable}, which its settings name, is not set for Pawl; set it where Pawl is started.`)
    return { value, isSecret: namesSecret(variable) }
  }
}
