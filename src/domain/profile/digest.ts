import { canonicalJson } from '../canonical-json.ts'
import type { Profile } from './profile.ts'

/** Grows when the same profile begins to mean something else, so that two runs with one digest were really held alike. */
const version = 1

/** Two profiles have one digest if, and only if, they say the same, whatever they are called. */
export async function profileDigest({ name: _, ...content }: Profile): Promise<string> {
  const bytes = new TextEncoder().encode(canonicalJson({ version, ...content }))
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
  return `sha256:${[...digest].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`
}
