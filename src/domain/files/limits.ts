/** How much may be handed in with a task, and how much an agent may leave for people. */
export interface FileLimits {
  /** One file that is handed in. */
  readonly uploadMb: number
  /** How many a task may have, and how much together. */
  readonly attachments: number
  readonly attachmentsMb: number
  /** How many files a task may leave, how large each may be, and all that one run adds. */
  readonly artifacts: number
  readonly artifactMb: number
  readonly artifactsMb: number
  /** Are agents told in their prompt where to leave files? */
  readonly tellArtifacts: boolean
}

export const defaultFileLimits: FileLimits = {
  uploadMb: 10,
  attachments: 20,
  attachmentsMb: 50,
  artifacts: 100,
  artifactMb: 50,
  artifactsMb: 200,
  tellArtifacts: false,
}

/** No setting goes beyond it. */
export const mostUploadMb = 64
export const megabyte = 1024 * 1024
/** What was handed in and not taken out again is forgotten after so long; what a task has stays with the task. */
export const uploadKeptMs = 24 * 60 * 60_000
