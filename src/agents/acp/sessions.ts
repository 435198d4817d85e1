import type { SessionFiles } from '../../agent.ts'
import type { AcpOptions } from './options.ts'

/** It becomes part of a path, whoever has made it up. */
export const idForm = /^[A-Za-z0-9](?:[A-Za-z0-9_:@-]|\.(?!\.)){0,127}$/

/** Where conversations lie, if the settings say so: only then are they archived. A program may keep them anywhere in its home. */
export function sessionFilesOf({ sessionFiles }: AcpOptions): SessionFiles | undefined {
  if (!sessionFiles) return undefined
  return { id: idForm, layouts: (vendorId) => sessionFiles.map((layout) => layout.replaceAll('{session}', () => vendorId)) }
}
