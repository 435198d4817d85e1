import type { App } from './app.ts'
import { answerExample, requestExample, type Schema, type Schemas } from './examples/sample.ts'

interface Content {
  readonly schema?: Schema
  example?: unknown
}
export interface Operation {
  readonly summary?: string
  readonly parameters?: readonly {
    readonly name: string
    readonly in: string
    readonly required?: boolean
    readonly description?: string
    readonly schema?: Schema
  }[]
  readonly requestBody?: { readonly content: Readonly<Record<string, Content>> }
  readonly responses: Readonly<
    Record<string, { readonly description: string; readonly content?: Readonly<Record<string, Content>> }>
  >
  readonly 'x-pawl-right'?: string
}
export interface Description {
  readonly info: { readonly title: string; readonly version: string; readonly description?: string }
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Schemas }
}

/** The OpenAPI document, with an example of every request and every answer. Made once. */
export function describeApi(app: App, version: string): Description {
  app.openAPIRegistry.registerComponent('securitySchemes', 'token', { type: 'http', scheme: 'bearer' })
  const made = app.getOpenAPI31Document({
    openapi: '3.1.0',
    info: { title: 'Pawl', version, description: 'Runs coding agents unattended; what they have done never slips back.' },
    security: [{ token: [] }],
  })
  const document = structuredClone(made) as unknown as Description
  const { schemas } = document.components
  for (const [path, operations] of Object.entries(document.paths))
    for (const [method, operation] of Object.entries(operations)) {
      for (const content of Object.values(operation.requestBody?.content ?? {}))
        if (content.schema) content.example = requestExample({ method, path, schema: content.schema, schemas })
      for (const [status, { content: answers }] of Object.entries(operation.responses))
        for (const [type, content] of Object.entries(answers ?? {}))
          if (content.schema) content.example = answerExample({ method, path, schema: content.schema, schemas, status, type })
    }
  return document
}
