import type { Page } from '../../domain/view/view.ts'
import type { KeptWorkspaceView, QuarantineView } from '../../domain/view/workspace.ts'
import { api, type Wire } from '../transport/wire.ts'

/** Workspaces that are kept, and what was planted in them. */
export interface WorkspaceCalls {
  listQuarantine(): Promise<QuarantineView[]>
  /** Puts what a run planted back into its workspace, all of it or one path. */
  restoreQuarantine(run: string, options?: { path?: string | undefined }): Promise<{ restored: string[] }>
  listWorkspaces(): Promise<KeptWorkspaceView[]>
  removeWorkspace(name: string): Promise<KeptWorkspaceView>
}

export const workspaceCalls = ({ get, post, call }: Wire): WorkspaceCalls => ({
  listQuarantine: async () => (await get<Page<QuarantineView>>(`${api}/quarantine`)).items,
  restoreQuarantine: (run, { path } = {}) =>
    post(`${api}/quarantine/${encodeURIComponent(run)}/restore`, path === undefined ? {} : { path }, false),
  listWorkspaces: async () => (await get<Page<KeptWorkspaceView>>(`${api}/workspaces`)).items,
  removeWorkspace: async (name) =>
    (await call<KeptWorkspaceView>('DELETE', `${api}/workspaces/${encodeURIComponent(name)}`, { repeatable: false })).value,
})
