import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { basename, resolve } from 'node:path'
import { invalid, messageOf } from '../../domain/error.ts'
import type { Connection } from './connect.ts'

/** A file that goes with a task. */
interface Given {
  readonly name: string
  readonly size?: number | undefined
  readonly content: () => AsyncIterable<Uint8Array>
}

/** Looks whether they are there before anything is made. `-` is standard input, `NAME=-` standard input under a name. */
export async function filesToAttach(cwd: string, written: readonly string[]): Promise<Given[]> {
  const given: Given[] = []
  for (const one of written) {
    const [, named] = /^(?:(.+)=)?-$/s.exec(one) ?? []
    if (one === '-' || named !== undefined)
      given.push({ name: named ?? 'stdin', content: () => process.stdin as AsyncIterable<Buffer> })
    else given.push(await fileAt(resolve(cwd, one)))
  }
  if (given.filter(({ size }) => size === undefined).length > 1) throw invalid('Standard input can be attached once only.')
  return given
}

async function fileAt(path: string): Promise<Given> {
  const found = await stat(path).catch((error: unknown) => {
    throw invalid(`The file ${path} cannot be attached: ${messageOf(error)}.`)
  })
  if (!found.isFile()) throw invalid(`${path} cannot be attached: it is no file. For a folder use --context-dir.`)
  return { name: basename(path), size: found.size, content: () => createReadStream(path) as AsyncIterable<Buffer> }
}

/** Hands them in; answers the ids that a new task names. */
export async function attach({ runtime }: Pick<Connection, 'runtime'>, files: readonly Given[]): Promise<string[]> {
  const ids: string[] = []
  for (const { name, size, content } of files)
    ids.push((await runtime.addUpload({ name, size, content: content() }, { by: 'cli' })).id)
  return ids
}
