import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { isObject } from '../../domain/base/object.ts'
import { invalid, messageOf } from '../../domain/error.ts'

/** The value of --output-schema: JSON as it stands, or the file that holds it. */
export async function readOutputSchema(cwd: string, given: string): Promise<Record<string, unknown>> {
  const isJson = given.trimStart().startsWith('{')
  const file = resolve(cwd, given)
  const text = isJson ? given : await readFile(file, 'utf8').catch((error: unknown) => refuse(file, error))
  const where = isJson ? 'The JSON of --output-schema' : `The output schema ${file}`
  const value = parse(text, where)
  if (!isObject(value)) throw invalid(`${where} is not a JSON schema: that is an object such as {"type":"object"}.`)
  return value as Record<string, unknown>
}

function refuse(file: string, error: unknown): never {
  const why = (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'does not exist' : `cannot be read: ${messageOf(error)}`
  throw invalid(`The output schema ${file} ${why}; --output-schema takes a file, or the schema itself as JSON.`)
}

function parse(text: string, where: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw invalid(`${where} is not JSON: ${messageOf(error)}.`)
  }
}
