import { Ajv, type AnySchemaObject, type Options, type ValidateFunction } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { compileRegex } from './regex.ts'

// Runs on a thread that has a deadline: schemas that take for ever to compile, or to hold an answer against, are easy to write.

const options: Options = {
  // What a schema says beyond the standard is a remark.
  strict: false,
  logger: false,
  // Each schema that is referred to is compiled once, not wherever it is named.
  inlineRefs: false,
  code: {
    regExp: Object.assign(
      (pattern: string) => {
        const regex = compileRegex(pattern, { most: 4_000 })
        // ajv knows patterns apart by their text.
        return { test: (text: string) => regex.test(text), toString: () => pattern }
      },
      { code: 'undefined' },
    ),
  },
}

/** 2020-12, which is also what a schema without "$schema" is taken for; the older drafts have another notation. */
function compile(schema: AnySchemaObject): ValidateFunction {
  const isOld = typeof schema.$schema === 'string' && /draft-0[67]/.test(schema.$schema)
  const ajv = isOld ? new Ajv(options) : new Ajv2020(options)
  addFormats.default(ajv)
  const { $schema: _, ...rest } = schema
  const validate = ajv.compile(rest)
  // Its answer would be a promise, which is never false.
  if ('$async' in validate) throw new Error('"$async" cannot be used')
  return validate
}

export function assertSchema(schema: AnySchemaObject): null {
  compile(schema)
  return null
}

export function checkAnswer(schema: AnySchemaObject, answer: string): { text: string } | { fault: string } {
  const found = jsonIn(answer)
  if (found === undefined) return { fault: 'it is no JSON' }
  const validate = compile(schema)
  if (validate(found.value)) return { text: found.text }
  const [error] = validate.errors!
  const { instancePath, message = 'does not fit', params } = error!
  const detail = params.additionalProperty ?? params.unevaluatedProperty ?? params.allowedValues
  const place = instancePath.slice(1).replaceAll('/', '.') || 'the answer'
  return { fault: `${place}: ${message}${detail === undefined ? '' : ` (${JSON.stringify(detail)})`}`.slice(0, 1_000) }
}

/** The whole text, or the one fenced block in it. */
function jsonIn(text: string): { text: string; value: unknown } | undefined {
  const blocks = fencedBlocks(text)
  for (const candidate of [text.trim(), ...(blocks.length === 1 ? blocks : [])]) {
    try {
      return { text: candidate, value: JSON.parse(candidate) }
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error
    }
  }
  return undefined
}

/** Line by line, each looked at once: an answer may consist of fences that are never closed. */
function fencedBlocks(text: string): string[] {
  const blocks: string[] = []
  let inside: string[] | undefined
  for (const line of text.split('\n')) {
    if (inside === undefined) {
      if (opensFence.test(line)) inside = []
    } else if (inside.length > 0 && closesFence.test(line)) {
      blocks.push(inside.join('\n'))
      inside = undefined
    } else inside.push(line)
  }
  return blocks
}

const opensFence = /^```(?:json)?[ \t]*$/
const closesFence = /^```[ \t]*\r?$/
