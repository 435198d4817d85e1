import { isCollection, isMap, isScalar, parseDocument, parse as readYaml } from 'yaml'
import { isObjectOrArray } from '../domain/base/object.ts'
import { invalid } from '../domain/error.ts'
import { formatPath, type Path } from './problems.ts'

/** What is to be changed of a settings file, by paths as `pawl config show` prints them. */
export interface SettingsEdit {
  readonly set?: Readonly<Record<string, unknown>> | undefined
  readonly unset?: readonly string[] | undefined
}

/** The text of a settings file with these settings changed and everything else left as it is, comments included. Whether the result makes sense is not looked at. */
export function editText(text: string, { set = {}, unset = [] }: SettingsEdit): string {
  const document = parseDocument(text, { uniqueKeys: false })
  if (document.errors.length > 0) throw invalid('The settings file is not valid YAML as it stands; correct it by hand first.')
  if (document.contents !== null && !isMap(document.contents))
    throw invalid('The settings file holds something else than settings; correct it by hand first.')
  for (const written of unset) {
    const path = parsePath(written)
    if (!document.hasIn(path)) throw invalid(`${written} is not set in this file, so there is nothing to remove.`)
    document.deleteIn(path)
    for (let above = path.slice(0, -1); above.length > 0; above = above.slice(0, -1)) {
      const block = document.getIn(above)
      // An empty block that nobody has written anything beside says nothing.
      if (!isMap(block) || block.items.length > 0 || block.comment || block.commentBefore) break
      document.deleteIn(above)
    }
  }
  for (const [written, value] of Object.entries(set)) {
    const path = parsePath(written)
    makeRoom(document, path)
    const before = document.getIn(path, true)
    if (isScalar(before) && !isObjectOrArray(value)) before.value = value
    else document.setIn(path, document.createNode(value))
  }
  if (
    document.contents !== null &&
    isCollection(document.contents) &&
    document.contents.items.length === 0 &&
    !document.commentBefore
  )
    return ''
  return document.toString({ lineWidth: 0, flowCollectionPadding: true })
}

/** A block that stands there without anything in it (`limits:`) becomes one that can hold something. */
function makeRoom(document: ReturnType<typeof parseDocument>, path: Path): void {
  for (let length = 1; length < path.length; length++) {
    const above = path.slice(0, length)
    const found = document.getIn(above)
    if (found === undefined) return
    if (found === null) document.setIn(above, document.createNode({}))
    else if (!isCollection(found))
      throw invalid(
        `${formatPath(above)} has a value of its own, so nothing can be set below it; set ${formatPath(above)} instead.`,
      )
  }
}

/** `agents.helper.args[0]`, `models["qwen3:8b"].provider`: the steps of a path as it is written. */
export function parsePath(written: string): Path {
  const steps: (string | number)[] = []
  const step = /(?:^|\.)([\w-]+)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]/y
  for (let at = 0; at < written.length; at = step.lastIndex) {
    step.lastIndex = at
    const found = step.exec(written)
    const key = found?.[3] === undefined ? undefined : textOf(found[3])
    if (!found || (found[3] !== undefined && key === undefined))
      throw invalid(
        `"${written.slice(0, 100)}" is no path of a setting; write it as "pawl config show" does: limits.running, models["qwen3:8b"].provider.`,
      )
    const [, word, index] = found
    steps.push(word ?? key ?? Number(index))
  }
  if (steps.length === 0) throw invalid('Which setting? Name its path as "pawl config show" prints it, such as limits.running.')
  return steps
}

function textOf(quoted: string): string | undefined {
  try {
    return JSON.parse(quoted) as string
  } catch {
    // An escape that JSON does not know.
    return undefined
  }
}

/** A value as it would stand in the file: 4, 30m, [a, b], { usd: 5 }. */
export function parseValue(written: string): unknown {
  try {
    return readYaml(written)
  } catch {
    // Whatever it is, it is no YAML: then it is meant as text.
    return written
  }
}
