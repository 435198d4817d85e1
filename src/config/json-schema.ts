import { z } from 'zod'
import type { Adapter, Preset } from '../agents/port.ts'
import type { Path } from './problems.ts'
import { FileSettings } from './schema.ts'

export type ConfigAdapter = Pick<Adapter, 'name' | 'options' | 'builtin' | 'models'> & Partial<Pick<Adapter, 'can' | 'suited'>>

type Schema = z.core.JSONSchema.BaseSchema
type Properties = Record<string, Schema>

const written = (schema: z.ZodType): Schema =>
  z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any', target: 'draft-2020-12' }) as Schema

/** The published schema of `pawl.yaml` and `config.yaml` (JSON Schema 2020-12), adapter options included. */
export function jsonSchema(adapters: readonly ConfigAdapter[], presets: readonly Preset[] = []): Record<string, unknown> {
  const schema = written(FileSettings)
  const agent = branches(schema.properties?.agents as Schema)
    .map((branch) => branch.additionalProperties)
    .find((entry): entry is Schema => typeof entry === 'object')!
  const options = adapterProperties(adapters)
  agent.properties = {
    ...options,
    ...agent.properties,
    adapter: { ...(agent.properties?.adapter as Schema), enum: adapters.map((adapter) => adapter.name) },
    preset: { ...(agent.properties?.preset as Schema), enum: presets.map((preset) => preset.name) },
    options: { ...(agent.properties?.options as Schema), properties: options, additionalProperties: false },
  }
  agent.additionalProperties = false
  return { ...schema, title: 'Settings of Pawl' }
}

/** The keys a schema knows at a path, for "did you mean". */
export function knownKeys(schema: z.ZodType, path: Path): string[] {
  let nodes = branches(written(schema))
  for (const step of path)
    nodes = nodes.flatMap((node) => {
      const next = node.properties?.[step] ?? node.additionalProperties ?? node.items
      return typeof next === 'object' && !Array.isArray(next) ? branches(next as Schema) : []
    })
  return [...new Set(nodes.flatMap((node) => Object.keys(node.properties ?? {})))]
}

/** Two adapters may give one name different meanings: then either is right here, and the adapter's own schema decides. */
function adapterProperties(adapters: readonly ConfigAdapter[]): Properties {
  const all: Properties = {}
  for (const adapter of adapters)
    for (const branch of branches(written(adapter.options)))
      for (const [name, property] of Object.entries((branch.properties ?? {}) as Properties)) {
        const known = all[name]
        if (known && JSON.stringify(known) !== JSON.stringify(property))
          all[name] = { anyOf: [...(known.anyOf ?? [known]), property] }
        else all[name] = property
      }
  return all
}

const branches = (schema: Schema): Schema[] => [
  schema,
  ...[...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])].flatMap((branch) => branches(branch as Schema)),
]
