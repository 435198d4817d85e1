import { isObjectOrArray } from '../domain/base/object.ts'
import { namesSecret, passwordsIn } from '../domain/base/secret-names.ts'

const maxInner = 20
const maxDepth = 5

/** What is secret inside a secret and may be shown without the rest: the password of an address, and in JSON every text whose name says secret. */
export function innerSecrets(secret: string): string[] {
  const passwords = passwordsIn(secret)
  return passwords.length > 0 ? passwords : [...new Set(textsIn(parsed(secret), false, 0))].slice(0, maxInner)
}

function parsed(text: string): unknown {
  if (!/^\s*[{[]/.test(text)) return undefined
  try {
    return JSON.parse(text) as unknown
  } catch {
    // It only begins like JSON.
    return undefined
  }
}

function textsIn(value: unknown, isSecret: boolean, depth: number): string[] {
  if (typeof value === 'string') return isSecret ? [value] : []
  if (!isObjectOrArray(value) || depth > maxDepth) return []
  if (Array.isArray(value)) return value.flatMap((item) => textsIn(item, isSecret, depth + 1))
  return Object.entries(value).flatMap(([name, inner]) => textsIn(inner, isSecret || namesSecret(name), depth + 1))
}
