import { problemError } from '../../../src/client/transport/problem.ts'
import { unavailable } from '../../../src/domain/error.ts'
import type { UploadView } from '../../../src/domain/files/view.ts'

export interface Uploading {
  readonly done: Promise<UploadView>
  cancel(): void
}

/** Hands a file in and tells how far that is, which no `fetch` does. */
export function upload(file: File, name: string, onProgress: (part: number) => void): Uploading {
  const request = new XMLHttpRequest()
  const done = new Promise<UploadView>((resolve, reject) => {
    request.open('POST', `/api/v1/uploads?${new URLSearchParams({ name })}`)
    request.setRequestHeader('Content-Type', 'application/octet-stream')
    request.setRequestHeader('X-Pawl-Client', 'page')
    request.upload.addEventListener('progress', (event) => {
      if (event.lengthComputable) onProgress(event.loaded / event.total)
    })
    request.addEventListener('load', () =>
      request.status === 201
        ? resolve(JSON.parse(request.responseText) as UploadView)
        : reject(problemError(request.status, request.responseText)),
    )
    // A file that is too large is refused while it is still on its way, and the connection closed.
    request.addEventListener('error', () =>
      reject(unavailable('It was not taken: the daemon does not answer, or the file is larger than it takes.')),
    )
    request.send(file)
  })
  return { done, cancel: () => request.abort() }
}
