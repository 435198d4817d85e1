import type { ArtifactView, UploadView } from '../../domain/files/view.ts'
import type { Page } from '../../domain/view/view.ts'
import { problemError } from '../transport/problem.ts'
import { api, query, taskPath, type Wire } from '../transport/wire.ts'

/** Files that go in with a task and those that come out of it. */
export interface FileCalls {
  /** Takes a file in, to be named by new tasks (`attachments`) within a day. */
  addUpload(upload: { name: string; content: Uint8Array<ArrayBuffer> }): Promise<UploadView>
  getUpload(id: string): Promise<UploadView>
  /** The files that the runs of a task have left for people. */
  listArtifacts(task: string): Promise<ArtifactView[]>
  /** What one of them holds. */
  readArtifact(task: string, artifact: string): Promise<Uint8Array>
}

export const fileCalls = ({ get, transport, signal, asker }: Wire): FileCalls => ({
  async addUpload({ name, content }) {
    const path = `${api}/uploads${query({ name })}`
    const headers = { Accept: 'application/json', ...asker }
    // What was taken twice is forgotten after a day.
    const answer = await transport.send({ method: 'POST', path, headers, body: content, signal, repeatable: true })
    if (answer.status !== 201) throw problemError(answer.status, answer.body)
    return JSON.parse(answer.body) as UploadView
  },
  getUpload: (id) => get(`${api}/uploads/${encodeURIComponent(id)}`),
  listArtifacts: async (task) => (await get<Page<ArtifactView>>(`${taskPath(task)}/artifacts`)).items,
  async readArtifact(task, artifact) {
    const path = `${taskPath(task)}/artifacts/${encodeURIComponent(artifact)}`
    const answer = await transport.take({ method: 'GET', path, headers: { Accept: '*/*', ...asker }, signal, repeatable: true })
    if (answer.status !== 200) throw problemError(answer.status, new TextDecoder().decode(answer.bytes))
    return answer.bytes
  },
})
