import type { FolderView, TaskFileRead, TaskFileText, TemplateView } from '../../domain/draft/draft.ts'
import type { NewElaboration } from '../../domain/draft/proposal.ts'
import type { NewTask, Page, TaskView } from '../../domain/view/view.ts'
import { api, taskPath, uniqueKey, type Wire } from '../transport/wire.ts'

/** What helps to write a task. */
export interface DraftCalls {
  listTemplates(): Promise<TemplateView[]>
  /** Folders to work in: those to begin at, or those in one. */
  listFolders(path?: string): Promise<FolderView>
  /** What would be made of a task file; makes nothing. */
  readTasks(file: TaskFileText): Promise<TaskFileRead>
  /** Has an agent make a task of somebody's words; `getProposal` has it when that task is completed. */
  elaborateTask(asked: NewElaboration, options?: { idempotencyKey?: string | undefined }): Promise<TaskView>
  getProposal(task: string): Promise<NewTask>
}

export const draftCalls = ({ get, post, call }: Wire): DraftCalls => ({
  listTemplates: async () => (await get<Page<TemplateView>>(`${api}/templates`)).items,
  listFolders: (path) => get(`${api}/folders`, { path }),
  readTasks: (file) => post(`${api}/tasks/read`, file),
  async elaborateTask({ text, workspace }, { idempotencyKey = uniqueKey() } = {}) {
    const headers = { 'Idempotency-Key': idempotencyKey }
    return (await call<TaskView>('POST', `${api}/tasks/elaborate`, { body: { text, workspace }, headers })).value
  },
  getProposal: (task) => get(`${taskPath(task)}/proposal`),
})
