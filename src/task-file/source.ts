import { readFile } from 'node:fs/promises'
import { isMap, isPair, isScalar, isSeq, LineCounter, type Node, parseAllDocuments } from 'yaml'
import { invalid, messageOf } from '../domain/error.ts'

export type Path = readonly (string | number)[]

/** One task of a file as it was written. */
export interface Written {
  readonly value: unknown
  /** `tasks.yaml:12`; of the key, or of the nearest thing around it that there is. */
  where(path: Path): string
}

export const maxFileBytes = 20_000_000

/** The text of a task file. */
export async function readSource(file: string, shown: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    const why = (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'does not exist' : `cannot be read: ${messageOf(error)}`
    throw invalid(`The task file ${shown} ${why}.`)
  })
  if (Buffer.byteLength(text) > maxFileBytes)
    throw invalid(`The task file ${shown} is larger than ${maxFileBytes} bytes; divide it.`)
  return text
}

/** Every task in it: YAML documents, lists of tasks, or a map with nothing but `tasks`. JSON is YAML. */
export function tasksIn(source: string, shown: string): Written[] {
  const lines = new LineCounter()
  const exactly = (offset: number) => {
    const { line, col } = lines.linePos(offset)
    return `${shown}:${Math.max(line, 1)}:${Math.max(col, 1)}`
  }
  const at = (offset: number) => `${shown}:${Math.max(lines.linePos(offset).line, 1)}`
  const documents = parseAllDocuments(source, { lineCounter: lines, prettyErrors: false })
  if (!Array.isArray(documents)) return none(shown)
  const tasks = documents.flatMap((document) => {
    const [fault] = [...document.errors, ...document.warnings]
    if (fault) throw invalid(`${exactly(fault.pos[0])} is not YAML: ${fault.message.split('\n')[0]}.`)
    const root = document.contents as Node | null
    if (root === null) return []
    const list =
      isMap(root) && root.items.length === 1 && root.has('tasks') ? (root.get('tasks', true) as Node | undefined) : root
    if (list !== root && !isSeq(list)) throw invalid(`${at(offsetOf(root, ['tasks']))} "tasks" must be a list of tasks.`)
    const nodes = isSeq(list) ? (list.items as Node[]) : [root]
    return nodes.map((node): Written => ({ value: plain(node, document, at), where: (path) => at(offsetOf(node, path)) }))
  })
  return tasks.length > 0 ? tasks : none(shown)
}

function plain(node: Node, document: Parameters<Node['toJS']>[0], at: (offset: number) => string): unknown {
  try {
    return node.toJS(document)
  } catch (error) {
    throw invalid(`${at(node.range?.[0] ?? 0)} cannot be read: ${messageOf(error)}.`)
  }
}

/** Where a key stands. What is not there has the place of what is around it. */
function offsetOf(node: Node, path: Path): number {
  const own = node.range?.[0] ?? 0
  const [step, ...rest] = path
  if (step === undefined) return own
  if (isSeq(node)) {
    const item = node.items[Number(step)] as Node | undefined
    return item ? offsetOf(item, rest) : own
  }
  if (!isMap(node)) return own
  const pair = node.items.find((item) => isPair(item) && isScalar(item.key) && String(item.key.value) === String(step))
  if (!pair) return own
  const key = (pair.key as Node).range?.[0] ?? own
  return rest.length === 0 || !pair.value ? key : offsetOf(pair.value as Node, rest)
}

function none(shown: string): never {
  throw invalid(`There is no task in ${shown}; write one with at least "prompt:", or several as a list.`)
}
