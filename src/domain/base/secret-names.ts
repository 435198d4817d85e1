/**
 * The secrets in an environment: variables whose name says so, and passwords inside addresses. Broader than what a shown setting needs, because a
 * value that is hidden without need costs nothing here: PGPASSWORD and GH_TOKEN_2 count, MAX_TOKENS and TOKEN_FILE do not.
 */
export function secretsIn(environment: Readonly<Record<string, string>>): Secret[] {
  return Object.entries(environment).flatMap(([name, value]) => {
    if (namesSecret(name)) return [{ name, value }]
    return passwordsIn(value).map((password) => ({ name, value: password }))
  })
}

export const namesSecret = (name: string) =>
  /(?:keys?|token|secret|passw(?:or)?d|passphrase|credentials?|(?:^|_)(?:pass|pat|auth))(?:_?\d+)?$/i.test(name) ||
  (/secret|passw(?:or)?d|passphrase|credential/i.test(name) && !/_(?:file|path|dir|name|id|url)$/i.test(name))

/** A secret, and the name by which it is spoken of. */
export interface Secret {
  readonly name: string
  readonly value: string
}

/** The password inside an address: as it stands there and, if that differs, as it is meant. */
export function passwordsIn(address: string): string[] {
  const written = /^[a-z][a-z0-9+.-]*:\/\/[^\s/:@]*:([^\s/]+)@/i.exec(address)?.[1]
  return written === undefined ? [] : [...new Set([written, decoded(written)])]
}

function decoded(written: string): string {
  try {
    return decodeURIComponent(written)
  } catch {
    // A stray percent sign: then it is meant as it stands.
    return written
  }
}
