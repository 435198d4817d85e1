/** What is asked of a model, in no provider's words. A wire format reads its requests into this and writes them from it, where client and provider differ. */
export interface ModelRequest {
  /** As the client calls it. */
  readonly model: string
  readonly system: readonly TextPart[]
  readonly messages: readonly Message[]
  readonly tools: readonly Tool[]
  readonly toolChoice: ToolChoice
  readonly parallelTools: boolean
  readonly maxOutputTokens?: number | undefined
  readonly temperature?: number | undefined
  readonly topP?: number | undefined
  readonly topK?: number | undefined
  readonly stop: readonly string[]
  readonly thinking?: Thinking | undefined
  /** JSON Schema of the whole answer. */
  readonly outputSchema?: { readonly name: string; readonly schema: JsonObject } | undefined
  readonly streams: boolean
  /** The client wants to know of a stream what it used, where its format tells that only if asked; as it likes if left out. */
  readonly wantsUsage?: boolean | undefined
}

export type JsonObject = { readonly [key: string]: unknown }

export interface Message {
  readonly role: 'user' | 'assistant'
  readonly parts: readonly Part[]
}

export type Part = TextPart | ImagePart | ThinkingPart | ToolCallPart | ToolResultPart

export interface TextPart {
  readonly kind: 'text'
  readonly text: string
  /** The provider may keep everything up to here. */
  readonly isCacheMark?: boolean | undefined
}

export interface ImagePart {
  readonly kind: 'image'
  readonly mediaType: string
  /** Base 64, or where it lies. */
  readonly data?: string | undefined
  readonly url?: string | undefined
}

/** What the model thought. `seal` is the provider's own proof or cipher of it: good only at the provider that gave it. */
export interface ThinkingPart {
  readonly kind: 'thinking'
  readonly text: string
  readonly seal?: string | undefined
}

export interface ToolCallPart {
  readonly kind: 'tool_call'
  readonly id: string
  readonly name: string
  readonly input: JsonObject
  /** Some providers want it back with the call. */
  readonly seal?: string | undefined
}

export interface ToolResultPart {
  readonly kind: 'tool_result'
  readonly callId: string
  /** Where the format tells it: some providers know calls by name only. */
  readonly name?: string | undefined
  readonly parts: readonly (TextPart | ImagePart)[]
  readonly isError: boolean
}

export interface Tool {
  readonly name: string
  readonly description?: string | undefined
  /** JSON Schema of its input. */
  readonly schema: JsonObject
  /** Where its format has groups of tools: the group's name, with which (and two underscores) its own begins. */
  readonly group?: string | undefined
  /** How its format writes its calls, where not as JSON of the schema: as bare text (the field `input` of the schema), or as a command of a shell (`command`), or as a search for tools. */
  readonly form?: 'text' | 'shell' | 'search' | undefined
  /** What the text has to look like, in the format's own words. */
  readonly grammar?: JsonObject | undefined
}

export type ToolChoice = 'auto' | 'any' | 'none' | { readonly name: string }

export interface Thinking {
  readonly budgetTokens?: number | undefined
  readonly effort?: 'minimal' | 'low' | 'medium' | 'high' | undefined
}
