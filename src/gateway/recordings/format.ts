import { z } from 'zod'

/**
 * A recording is a file of JSON lines: the head first, then pieces, calls and answers as they came, and the end, if it came to one. What successive requests share
 * is kept once: a piece stands before the first call that names it by its number. docs/recordings.md describes it for others.
 */
export const recordingVersion = 1

/** The time in milliseconds since the call began, and what came then; bytes that are no text are in base 64. */
const Frame = z.tuple([z.number(), z.union([z.string(), z.object({ base64: z.string() })])])
export type Frame = z.infer<typeof Frame>

const Headers = z.record(z.string(), z.string())
const StoredFile = z.object({ path: z.string(), sha256: z.string(), size: z.number() })

export const WorkspaceEntry = z.object({
  path: z.string(),
  kind: z.enum(['file', 'directory', 'link']),
  mode: z.number(),
  mtimeNs: z.string(),
  size: z.number().optional(),
  sha256: z.string().optional(),
  target: z.string().optional(),
})
export type WorkspaceEntry = z.infer<typeof WorkspaceEntry>

const Body = z.union([
  z.object({
    fields: z.record(z.string(), z.unknown()),
    /** The number of a piece, or of one for each item of a list. */
    pieces: z.record(z.string(), z.union([z.number(), z.array(z.number())])),
    /** The names of both, in the order in which they came. */
    order: z.array(z.string()),
  }),
  /** What is no JSON object. */
  z.object({ text: z.string() }),
])
export type StoredBody = z.infer<typeof Body>

export const RecordingLine = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('recording'),
    version: z.literal(recordingVersion),
    run: z.string(),
    task: z.string(),
    at: z.string(),
    agent: z.string(),
    adapter: z.string(),
    model: z.string().optional(),
  }),
  z.object({
    type: z.literal('start'),
    /** All that the agent was told, as it was told it. */
    prompt: z.string(),
    systemPrompt: z.string().optional(),
    /** The paths of the workspace and of the session home, as the agent saw them. */
    workspace: z.string(),
    home: z.string(),
    mode: z.enum(['direct', 'copy', 'clone']),
    /** The conversation that it went on with, and the files of it. */
    session: z.object({ vendorId: z.string(), files: z.array(StoredFile) }).optional(),
  }),
  z.object({
    type: z.literal('workspace'),
    files: z.number(),
    bytes: z.number(),
    entries: z.array(WorkspaceEntry),
    /** Why there is none. */
    leftOut: z.string().optional(),
  }),
  z.object({ type: z.literal('piece'), number: z.number(), sha256: z.string(), value: z.unknown() }),
  z.object({
    type: z.literal('call'),
    number: z.number(),
    atMs: z.number(),
    method: z.string(),
    path: z.string(),
    headers: Headers,
    body: Body,
  }),
  z.object({
    type: z.literal('answer'),
    number: z.number(),
    status: z.number(),
    headers: Headers,
    frames: z.array(Frame),
    whole: z.boolean(),
  }),
  z.object({ type: z.literal('end'), calls: z.number(), stopped: z.string().optional() }),
])
export type RecordingLine = z.infer<typeof RecordingLine>
export type LineOf<T extends RecordingLine['type']> = Extract<RecordingLine, { type: T }>
