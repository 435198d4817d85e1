import type { SessionFiles } from '../../agent.ts'
import type { CustomOptions } from './options.ts'
import { idForm } from './session-id.ts'

/** Where conversations lie, if the settings say so: only then are they archived. */
export function sessionFilesOf({ sessionFiles }: CustomOptions): SessionFiles | undefined {
  if (!sessionFiles) return undefined
  return { id: idForm, layouts: (vendorId) => sessionFiles.map((layout) => withSession(layout, vendorId)) }
}

export const withSession = (text: string, id: string) => text.replaceAll('{session}', () => id)
