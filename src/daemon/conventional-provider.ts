import { adapterNamed } from '../agents/index.ts'
import type { ResolvedAgent } from '../domain/agent/agent-config.ts'
import { conventionalName } from '../gateway/wires/conventional-name.ts'

/** Whose format an agent asks its model in, by the name that the conventions of OpenTelemetry have for it. Undefined where nobody knows. */
export function conventionalProvider({ adapter, options }: Pick<ResolvedAgent, 'adapter' | 'options'>): string | undefined {
  const found = adapterNamed(adapter, options)
  const parsed = found.options.safeParse(options)
  const wire = parsed.success ? found.models?.(parsed.data)?.wire : undefined
  return wire && (conventionalName[wire] ?? wire)
}
