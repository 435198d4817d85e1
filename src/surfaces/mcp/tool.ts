import type { CallToolResult, InputRequiredResult, ToolAnnotations, Tool as ToolDefinition } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { mayUse, type Right, type Standing } from '../../domain/auth/role.ts'
import { assertMay, type Call } from './call.ts'

/** In the place of a result: the work goes on as this task, and the client asks for it. */
export interface TaskInstead {
  readonly taskInstead: string
}

export const isTaskInstead = (made: object): made is TaskInstead => 'taskInstead' in made

/** What a tool is to the server: how it is described, who sees it, and what a call of it answers. */
export interface OfferedTool {
  readonly definition: ToolDefinition
  readonly isFor: (standing: Standing) => boolean
  call(args: unknown, call: Call): Promise<CallToolResult | InputRequiredResult | TaskInstead>
}

interface ToolSpec<I extends z.ZodObject, O extends z.ZodObject> {
  readonly name: string
  readonly title: string
  readonly description: string
  /** All of these are needed. */
  readonly rights: readonly Right[]
  readonly input: I
  readonly output: O
  readonly hints: ToolAnnotations
  /** It may last, so a client may take a task in the place of its result. */
  readonly lasts?: boolean
  run(args: z.output<I>, call: Call): Promise<z.input<O> | InputRequiredResult | TaskInstead>
  /** The answer in words, for clients that show text; the JSON of it if left out. */
  readonly inWords?: (output: z.output<O>) => string
  /** True if the answer tells of something that went wrong. */
  readonly isError?: (output: z.output<O>) => boolean
}

export function defineTool<I extends z.ZodObject, O extends z.ZodObject>(spec: ToolSpec<I, O>): OfferedTool {
  const { name, title, description, rights, input, output } = spec
  return {
    definition: {
      name,
      title,
      description,
      inputSchema: schemaOf(input, 'input'),
      outputSchema: schemaOf(output, 'output'),
      annotations: { title, openWorldHint: false, ...spec.hints },
      ...(spec.lasts ? { execution: { taskSupport: 'optional' as const } } : {}),
    },
    isFor: (standing) => rights.every((right) => mayUse(right, standing)),
    async call(args, call) {
      for (const right of rights) assertMay(right, call.who)
      const given = input.safeParse(args ?? {})
      if (!given.success) return failure(`The arguments of ${name} do not fit: ${problemsOf(given.error)}.`)
      const made = await spec.run(given.data, call)
      if ('taskInstead' in made || 'inputRequests' in made || 'requestState' in made)
        return made as TaskInstead | InputRequiredResult
      const structured = output.parse(made)
      return {
        content: [{ type: 'text', text: spec.inWords?.(structured) ?? JSON.stringify(structured) }],
        structuredContent: structured,
        ...(spec.isError?.(structured) ? { isError: true } : {}),
      }
    },
  }
}

/** What went wrong, in a sentence for whoever called. */
export const failure = (sentence: string): CallToolResult => ({ content: [{ type: 'text', text: sentence }], isError: true })

const schemaOf = (schema: z.ZodObject, io: 'input' | 'output') =>
  z.toJSONSchema(schema, { io, target: 'draft-2020-12' }) as ToolDefinition['inputSchema']

const problemsOf = (error: z.ZodError) =>
  error.issues.map(({ path, message }) => (path.length > 0 ? `${path.join('.')}: ${message}` : message)).join('; ')
