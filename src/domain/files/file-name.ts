import { z } from 'zod'

const most = 200

/** Why a name is not taken for a file; undefined if it is. Such a name is one part of a path, the same on every system, and shows as what it is. */
export function nameFault(name: string): string | undefined {
  if (name === '' || name === '.' || name === '..') return 'is no name of a file'
  if (!name.isWellFormed()) return 'is no text'
  if (new TextEncoder().encode(name).length > most) return `is longer than ${most} bytes`
  if (/[/\\]/.test(name)) return 'holds a slash; give the name without folders'
  if (/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}]/u.test(name)) return 'holds characters that do not show'
  if (/^[\s.]|[\s.]$/u.test(name)) return 'begins or ends with a dot or a space'
  if (/[<>:"|?*]/.test(name)) return 'holds one of < > : " | ? *, which not every system takes'
  if (/^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i.test(name)) return 'is the name of a device on some systems'
  return undefined
}

/** As it is kept: of the ways to write the same signs, one. */
export const FileName = z
  .string()
  .max(1_000)
  .superRefine((name, context) => {
    const fault = nameFault(name.normalize('NFC'))
    if (fault !== undefined)
      context.addIssue({ code: 'custom', message: `the name ${JSON.stringify(name.slice(0, 100))} ${fault}` })
  })
  .transform((name) => name.normalize('NFC'))

/** Names that are all different, in the same order: one that was there before gets a number. */
export function distinctNames(names: readonly string[]): string[] {
  const taken = new Set<string>()
  return names.map((name) => {
    const [, stem, end] = /^(.+?)(\.[^.]+)?$/su.exec(name) ?? []
    let free = name
    for (let number = 2; taken.has(free.toLowerCase()); number++) free = `${stem}-${number}${end ?? ''}`
    taken.add(free.toLowerCase())
    return free
  })
}
