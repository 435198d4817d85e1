import type { TaskMount } from './mount.ts'

export const mountForms = 'BASE, BASE/PART, each with :rw to write there, or ALIAS=BASE/PART'

/** `projects`, `projects/shop:rw`, `shop=projects/shop`. Undefined if it is none of these. */
export function writtenMount(written: string): TaskMount | undefined {
  const [, alias, base, subpath, mode] = /^(?:([^=/]*)=)?([^/:]+)(?:\/(.+?))?(?::(ro|rw))?$/.exec(written) ?? []
  if (base === undefined) return undefined
  return {
    base,
    ...(subpath === undefined ? {} : { subpath }),
    ...(alias === undefined ? {} : { alias }),
    ...(mode === undefined ? {} : { mode: mode as 'ro' | 'rw' }),
  }
}
