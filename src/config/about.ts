import { z } from 'zod'
import type { Path } from './problems.ts'
import { FileSettings } from './schema.ts'

type Schema = z.core.JSONSchema.BaseSchema

/** Whether a file can say it under this path, and what it means, as the schema says it; null where it says nothing. */
export function aboutSettings(): (path: Path) => { isWritten: boolean; about: string | null } {
  const root = z.toJSONSchema(FileSettings, { io: 'input', unrepresentable: 'any' }) as Schema
  return (path) => {
    let nodes = branches(root)
    let said: string | undefined
    for (const step of path) {
      nodes = nodes.flatMap((node) => {
        const next = node.properties?.[step] ?? node.additionalProperties ?? node.items
        return typeof next === 'object' && !Array.isArray(next) ? branches(next as Schema) : []
      })
      // What is said of a block says too little of what stands in it.
      said = nodes.find((node) => node.description !== undefined)?.description
    }
    return { isWritten: nodes.length > 0, about: said ?? null }
  }
}

const branches = (schema: Schema): Schema[] => [
  schema,
  ...[...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])].flatMap((branch) => branches(branch as Schema)),
]
