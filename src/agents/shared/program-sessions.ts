import type { SessionFiles } from '../port.ts'

/** What an id may be like that becomes an argument of a command or part of a path, whoever has made it up. */
export const idForm = /^[A-Za-z0-9](?:[A-Za-z0-9_:@-]|\.(?!\.)){0,127}$/

/** Where conversations lie, if the settings say so: only then are they archived. A program may keep them anywhere in its home. */
export function sessionFilesOf({
  sessionFiles,
}: {
  readonly sessionFiles?: readonly string[] | undefined
}): SessionFiles | undefined {
  if (!sessionFiles) return undefined
  return { id: idForm, layouts: (vendorId) => sessionFiles.map((layout) => withSession(layout, vendorId)) }
}

export const withSession = (text: string, id: string) => text.replaceAll('{session}', () => id)
