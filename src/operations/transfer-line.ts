import { z } from 'zod'
import { isObject } from '../domain/base/object.ts'
import { isPlainBelow } from '../domain/base/path.ts'
import { invalid } from '../domain/error.ts'
import { FileName } from '../domain/files/file-name.ts'
import { QuestionId, RunId, ScheduleId, SessionId, TaskId } from '../domain/id.ts'
import { profileDigest } from '../domain/profile/digest.ts'
import type { Profile } from '../domain/profile/profile.ts'
import type { Line } from '../store/transfer/tables.ts'

/** Ids become parts of paths, files are laid into homes, and a profile stands for all runs that name its digest: a file that anybody may have changed is held to what we would write. */
export async function assertSound({ kind, row }: Line, number: number): Promise<void> {
  const wrong = (what: string) => invalid(`Line ${number} is no line of an export: ${what}.`)
  if (!isObject(row)) throw wrong('it has no row')
  for (const [field, schema] of ids[kind] ?? [])
    if (!schema.safeParse(row[field]).success) throw wrong(`its ${field} is none that Pawl makes`)
  if (kind === 'profile' && (await profileDigest(Object(row.profile) as Profile)) !== row.digest)
    throw wrong('its profile is not the one that its digest names')
  if (kind === 'session_file' && !SessionFile.safeParse(row).success) throw wrong('its file lies outside, or its chunks are none')
  const files = kind === 'task' ? (row.spec as { attachments?: unknown } | null)?.attachments : undefined
  if (files !== undefined && !z.array(z.object({ name: FileName })).safeParse(files).success)
    throw wrong('the name of one of its files is none')
}

const ids: Readonly<Record<string, readonly [string, z.ZodType][]>> = {
  session: [['id', SessionId]],
  session_file: [['session_id', SessionId]],
  schedule: [['id', ScheduleId]],
  task: [
    ['id', TaskId],
    ['session_id', SessionId],
  ],
  run: [
    ['id', RunId],
    ['session_id', SessionId],
  ],
  question: [['id', QuestionId]],
}

const SessionFile = z.object({
  path: z.string().refine(isPlainBelow),
  chunks: z.array(z.object({ start: z.int().min(0), length: z.int().min(0), bytes: z.string().regex(/^[A-Za-z0-9+/=\n]*$/) })),
})
