import { joined, linesOf } from '../../domain/base/lines-of.ts'
import type { BackupUnderWay, BackupView, NewBackup } from '../../domain/view/backup.ts'
import type { Imported } from '../../domain/view/transfer.ts'
import type { Page } from '../../domain/view/view.ts'
import { problemError } from '../transport/problem.ts'
import { api, query, type Wire } from '../transport/wire.ts'

/** Everything, to be kept elsewhere. */
export interface BackupCalls {
  /** Takes a backup in the daemon; done when it is whole and on disk. */
  createBackup(how?: NewBackup): Promise<BackupView>
  /** Those in the daemon's folder, newest first. */
  listBackups(): Promise<BackupView[]>
  /** How far the one is that the daemon takes. */
  backupUnderWay(): Promise<BackupUnderWay | null>
  /** Everything, or some tasks, as JSON lines; throws if the daemon goes away before the last of them. */
  exportTasks(options?: { tasks?: readonly string[] | undefined }): AsyncIterable<string>
  /** Takes in the lines of an export. */
  importTasks(lines: string): Promise<Imported>
}

export const backupCalls = ({ get, post, transport, signal, asker }: Wire): BackupCalls => ({
  createBackup: (how = {}) => post(`${api}/backups`, { withWorkspaces: how.withWorkspaces, withLogs: how.withLogs }, false),
  listBackups: async () => (await get<Page<BackupView>>(`${api}/backups`)).items,
  backupUnderWay: async () => (await get<{ underWay: BackupUnderWay | null }>(`${api}/backups`)).underWay,
  async *exportTasks({ tasks } = {}) {
    const path = `${api}/export${query({ task: tasks?.join(',') })}`
    const headers = { Accept: 'application/x-ndjson', ...asker }
    const answer = await transport.open({ method: 'GET', path, headers, signal, repeatable: true })
    if (answer.status !== 200) throw problemError(answer.status, await joined(answer.chunks))
    yield* linesOf(answer.chunks)
  },
  async importTasks(lines) {
    const headers = { Accept: 'application/json', ...asker }
    const body = new TextEncoder().encode(lines)
    // What was taken is skipped the second time.
    const answer = await transport.send({ method: 'POST', path: `${api}/import`, headers, body, signal, repeatable: true })
    if (answer.status !== 200) throw problemError(answer.status, answer.body)
    return JSON.parse(answer.body) as Imported
  },
})
