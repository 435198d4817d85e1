import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, isAbsolute, join, resolve } from 'node:path'

export type Found = { readonly file: string } | { readonly missing: 'not_found' | 'not_executable'; readonly looked: string }

/** Where a command would be started from, without a shell: a name is searched on `path`, anything with a slash is taken relative to `folder`. */
export function which(command: string, where: { path: string; folder?: string | undefined }): Found {
  if (command.includes('/')) {
    const file = isAbsolute(command) ? command : resolve(where.folder ?? '.', command)
    const state = stateOf(file)
    return state === 'executable' ? { file } : { missing: state, looked: file }
  }
  let refused: string | undefined
  // An empty entry means the current directory to a shell; a program planted in a workspace must not be found by its bare name.
  for (const folder of where.path.split(delimiter).filter(isAbsolute)) {
    const file = join(folder, command)
    const state = stateOf(file)
    if (state === 'executable') return { file }
    if (state === 'not_executable') refused ??= file
  }
  return refused ? { missing: 'not_executable', looked: refused } : { missing: 'not_found', looked: where.path }
}

function stateOf(file: string): 'executable' | 'not_executable' | 'not_found' {
  try {
    if (!statSync(file).isFile()) return 'not_executable'
  } catch {
    // Whatever keeps us from it keeps us from starting it.
    return 'not_found'
  }
  try {
    accessSync(file, constants.X_OK)
    return 'executable'
  } catch {
    return 'not_executable'
  }
}
