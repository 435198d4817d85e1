import { textOf } from './fields.ts'
import type { Tool } from './model-request.ts'

/** What a model is told of a tool. One that takes bare text is offered with one field for it, and its grammar is told in words. */
export function describedTool({ description, form, grammar }: Tool): string | undefined {
  if (form !== 'text') return description
  const definition = textOf(grammar?.definition)
  const rule =
    definition === undefined ? '' : `\n\nThe text must follow this ${textOf(grammar?.syntax) ?? ''} grammar:\n${definition}`
  return `${description ?? ''}\n\nPut the whole text into the field "input".${rule}`.trim()
}

/** The schemas of tools that have none of their own. */
export const textSchema = {
  type: 'object',
  properties: { input: { type: 'string', description: 'The whole text.' } },
  required: ['input'],
  additionalProperties: false,
} as const

export const searchSchema = {
  type: 'object',
  properties: {
    query: { type: 'string', description: 'What the tools are to do.' },
    limit: { type: 'number', description: 'The most that are wanted.' },
  },
  required: ['query'],
  additionalProperties: false,
} as const

export const shellSchema = {
  type: 'object',
  properties: {
    command: { type: 'array', items: { type: 'string' }, description: 'The program and its arguments.' },
    workdir: { type: 'string', description: 'Where it is run.' },
    timeout_ms: { type: 'number', description: 'The longest it may take.' },
  },
  required: ['command'],
  additionalProperties: false,
} as const
