import { z } from 'zod'
import { ArtifactId, RunId, TaskId, UploadId } from '../id.ts'

const Time = z.iso.datetime()
const Content = z.object({
  type: z.string().describe('What is in it, as Pawl has found.'),
  size: z.number().int().describe('In bytes.'),
  sha256: z.string(),
})

/** A file that goes with a task. */
export const Attachment = Content.extend({ name: z.string() })
export type Attachment = z.infer<typeof Attachment>

export const UploadView = Content.extend({
  id: UploadId,
  name: z.string(),
  createdAt: Time,
  expiresAt: Time.describe('Until then it can be attached to tasks; what a task has stays with the task.'),
})
export type UploadView = z.infer<typeof UploadView>

export const ArtifactView = Content.extend({
  id: ArtifactId,
  task: TaskId,
  run: RunId.nullable().describe('The run that left it.'),
  name: z.string().describe('With the folders that it lies in, if it lies in any.'),
  createdAt: Time,
})
export type ArtifactView = z.infer<typeof ArtifactView>
