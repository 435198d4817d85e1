import { zstdDecompressSync } from 'node:zlib'
import { type CrashHome, pause } from './home.ts'

export interface ArchivedFile {
  readonly path: string
  readonly size: number
  readonly bytes: Buffer
  /** What is wrong with how it is stored. */
  readonly faults: readonly string[]
}

interface Row {
  readonly path: string
  readonly size: string
  readonly start: string | null
  readonly length: number
  readonly bytes: Buffer
}

/** What the store holds of a session's conversation, read without the help of Pawl. */
export async function archiveOf(home: CrashHome, session: string): Promise<ArchivedFile[]> {
  const rows = await whenUp(() =>
    home.query<Row>(`
      select f.path, f.size, c.start, c.length, c.bytes from pawl.session_files f left join pawl.session_chunks c on c.file_id = f.id
      where f.session_id = '${session}' order by f.path, c.start`),
  )
  return [...Map.groupBy(rows, (row) => row.path)].map(([path, chunks]) => join(path, chunks))
}

function join(path: string, rows: readonly Row[]): ArchivedFile {
  const faults: string[] = []
  const parts: Buffer[] = []
  let end = 0
  for (const { start, length, bytes } of rows) {
    if (start === null) continue
    const part = zstdDecompressSync(bytes)
    if (Number(start) !== end) faults.push(`a chunk of ${path} starts at ${start} instead of ${end}`)
    if (part.length !== length) faults.push(`the chunk of ${path} at ${start} has ${part.length} bytes instead of ${length}`)
    end = Number(start) + part.length
    parts.push(part)
  }
  const size = Number(rows[0]!.size)
  if (end !== size) faults.push(`the chunks of ${path} end at ${end}, its size is ${size}`)
  return { path, size, bytes: Buffer.concat(parts), faults }
}

/** The server may be on its way back. */
async function whenUp<T>(ask: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + 20_000
  for (;;) {
    try {
      return await ask()
    } catch (error) {
      if (performance.now() > deadline) throw error
      await pause(30)
    }
  }
}
