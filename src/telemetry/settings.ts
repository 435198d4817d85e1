import type { Log } from '../base/log.ts'

/** Where spans go, by the variables that every OpenTelemetry program knows. */
export interface OtlpSettings {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly service: string
  readonly resource: Readonly<Record<string, string>>
}

export const otlpVariables = [
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
  'OTEL_EXPORTER_OTLP_HEADERS',
  'OTEL_EXPORTER_OTLP_TRACES_HEADERS',
  'OTEL_EXPORTER_OTLP_PROTOCOL',
  'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL',
  'OTEL_SERVICE_NAME',
  'OTEL_RESOURCE_ATTRIBUTES',
  'OTEL_SDK_DISABLED',
  'OTEL_TRACES_EXPORTER',
] as const
type Said = Readonly<Partial<Record<string, string>>>

/** Undefined where nobody wants spans, or where they are wanted in a way that we do not speak, which is said. */
export function otlpSettings(said: Said, log: Log): OtlpSettings | undefined {
  const endpoint = said.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? below(said.OTEL_EXPORTER_OTLP_ENDPOINT)
  if (!endpoint || said.OTEL_SDK_DISABLED?.toLowerCase() === 'true' || said.OTEL_TRACES_EXPORTER === 'none') return undefined
  if (!URL.canParse(endpoint) || !/^https?:$/.test(new URL(endpoint).protocol)) {
    log.warn('no spans are sent: the endpoint for them is no http or https URL', { reason: 'telemetry_settings' })
    return undefined
  }
  const protocol = said.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL ?? said.OTEL_EXPORTER_OTLP_PROTOCOL ?? 'http/json'
  // Every collector that takes protobuf by HTTP takes JSON at the same address.
  if (protocol === 'grpc') {
    log.warn('no spans are sent: Pawl sends them by HTTP only; set OTEL_EXPORTER_OTLP_PROTOCOL to http/json and name that port', {
      reason: 'telemetry_settings',
    })
    return undefined
  }
  return {
    url: endpoint,
    headers: pairs(said.OTEL_EXPORTER_OTLP_TRACES_HEADERS ?? said.OTEL_EXPORTER_OTLP_HEADERS),
    service: said.OTEL_SERVICE_NAME || 'pawl',
    resource: pairs(said.OTEL_RESOURCE_ATTRIBUTES),
  }
}

const below = (endpoint: string | undefined) => endpoint && `${endpoint.replace(/\/+$/, '')}/v1/traces`

/** `name=value,name=value`, each percent-encoded. */
function pairs(text = ''): Record<string, string> {
  const parts = text.split(',').map((part) => part.split('='))
  return Object.fromEntries(
    parts.flatMap(([name = '', ...value]) =>
      name.trim() === '' ? [] : [[decoded(name.trim()), decoded(value.join('=').trim())]],
    ),
  )
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch (error) {
    if (error instanceof URIError) return text
    throw error
  }
}
