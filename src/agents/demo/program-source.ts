import { existsSync, readFileSync } from 'node:fs'
import { PawlError } from '../../domain/error.ts'

let source: string | undefined

/**
 * The demo program's text. From a checkout and from a bundle alike it lies at `agents/demo/program.js` below a folder above this
 * module, wherever in the bundle this module ended up.
 */
export function programSource(): string {
  source ??= readFileSync(find(), 'utf8')
  return source
}

function find(): URL {
  for (const above of ['./', '../', '../../', '../../../']) {
    const candidate = new URL(`${above}agents/demo/program.js`, import.meta.url)
    if (existsSync(candidate)) return candidate
  }
  throw new PawlError('unavailable', 'The demo program (agents/demo/program.js) is missing from this installation of Pawl.')
}
