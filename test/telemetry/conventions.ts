import type { Span } from '../../src/telemetry/span.ts'

/**
 * The conventions that our spans are held to: the registry of open-telemetry/semantic-conventions-genai at this commit (development, no release yet), and of
 * open-telemetry/semantic-conventions 1.38 for what is not about models.
 */
export const pinned = '002c8a6ea1c8a42b14a4527db83b3cabcded610a'

type Type = 'string' | 'int' | 'double' | 'boolean'

const types: Readonly<Record<string, Type>> = {
  'gen_ai.operation.name': 'string',
  'gen_ai.provider.name': 'string',
  'gen_ai.request.model': 'string',
  'gen_ai.request.stream': 'boolean',
  'gen_ai.response.id': 'string',
  'gen_ai.response.model': 'string',
  'gen_ai.response.time_to_first_chunk': 'double',
  'gen_ai.usage.input_tokens': 'int',
  'gen_ai.usage.output_tokens': 'int',
  'gen_ai.usage.cache_read.input_tokens': 'int',
  'gen_ai.usage.cache_creation.input_tokens': 'int',
  'gen_ai.usage.reasoning.output_tokens': 'int',
  'gen_ai.conversation.id': 'string',
  'gen_ai.agent.id': 'string',
  'gen_ai.agent.name': 'string',
  'gen_ai.tool.name': 'string',
  'gen_ai.tool.call.id': 'string',
  'error.type': 'string',
  'server.address': 'string',
  'server.port': 'int',
  'http.response.status_code': 'int',
}

/** Of what we do ourselves, outside of any convention. */
const own: Readonly<Record<string, Type>> = {
  'pawl.task': 'string',
  'pawl.task.state': 'string',
  'pawl.runs': 'int',
  'pawl.run': 'string',
  'pawl.attempt': 'int',
  'pawl.outcome': 'string',
  'pawl.cost_usd': 'double',
  'pawl.provider': 'string',
  'pawl.call': 'int',
  'pawl.translated': 'boolean',
}

/** What the span of an operation is called after, what it must have, and its kind: 1 is internal, 3 a client's. */
const operations: Readonly<Record<string, { after: string; needs: readonly string[]; kind: 1 | 3 }>> = {
  chat: { after: 'gen_ai.response.model', needs: ['gen_ai.provider.name', 'gen_ai.request.model'], kind: 3 },
  invoke_agent: { after: 'gen_ai.agent.name', needs: ['gen_ai.agent.name'], kind: 1 },
  execute_tool: { after: 'gen_ai.tool.name', needs: ['gen_ai.tool.name', 'gen_ai.tool.call.id'], kind: 1 },
}

const inJson = { stringValue: 'string', intValue: 'int', doubleValue: 'double', boolValue: 'boolean' } as const

/** What is wrong with a span, each as a sentence. */
export function faultsIn({ name, kind, attributes, status }: Pick<Span, 'name' | 'kind' | 'attributes' | 'status'>): string[] {
  const values = Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0] as unknown]))
  const faults = attributes.flatMap(({ key, value }) => {
    const type = types[key] ?? own[key]
    const told = inJson[Object.keys(value)[0] as keyof typeof inJson]
    return type === undefined ? [`${key} is no name of the conventions`] : type === told ? [] : [`${key} is ${told}, not ${type}`]
  })
  if (new Set(attributes.map(({ key }) => key)).size !== attributes.length) faults.push('an attribute stands there twice')
  if (status?.code === 2 && values['error.type'] === undefined) faults.push('it failed without an error.type')
  const operation = values['gen_ai.operation.name']
  if (operation === undefined) return faults
  const rule = operations[String(operation)]
  if (!rule) return [...faults, `${String(operation)} is no operation that we have`]
  if (name !== `${String(operation)} ${String(values[rule.after])}`) faults.push(`it is called "${name}"`)
  if (kind !== rule.kind) faults.push(`its kind is ${kind}`)
  return [...faults, ...rule.needs.flatMap((key) => (values[key] === undefined ? [`${key} is missing`] : []))]
}
