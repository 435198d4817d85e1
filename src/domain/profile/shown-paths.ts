import { isObjectOrArray } from '../base/object.ts'
import type { ProfileMount } from './profile.ts'

/** Texts, or anything made of texts, with the places of the walls replaced by those that the user knows. */
export type ShowPaths = <T>(value: T) => T

/**
 * Undefined where everything is seen inside where it is outside, as nearly always: then nothing is looked through. A path counts as such only whole: `/data` is
 * neither in `/var/data` nor in `/database`.
 */
export function showPaths(mounts: readonly Pick<ProfileMount, 'source' | 'path' | 'alias'>[]): ShowPaths | undefined {
  const outside = new Map<string, string>()
  for (const { source, path, alias } of mounts) {
    if (path !== source) outside.set(path, source)
    if (alias !== undefined) outside.set(alias, source)
  }
  if (outside.size === 0) return undefined
  // The longest first: a mount may lie inside another.
  const places = [...outside.keys()]
    .sort((a, b) => b.length - a.length)
    .map((path) => path.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
  const pattern = new RegExp(`(?<![\\w./~-])(?:${places.join('|')})(?![\\w-]|\\.\\w)`, 'g')
  const text = (given: string) => given.replace(pattern, (inside) => outside.get(inside) ?? inside)
  const value = (given: unknown): unknown => {
    if (typeof given === 'string') return text(given)
    if (Array.isArray(given)) return given.map(value)
    if (!isObjectOrArray(given) || given instanceof Date) return given
    return Object.fromEntries(Object.entries(given).map(([key, inner]) => [key, value(inner)]))
  }
  // Of the same shape: only texts inside are replaced, by texts.
  return <T>(given: T) => value(given) as T
}
