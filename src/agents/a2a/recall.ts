import { messageOf } from '../../domain/error.ts'
import type { Child } from '../../sandbox/process/child.ts'
import { lineBatches } from '../../sandbox/process/lines.ts'
import type { LaunchSpec, Recalled } from '../port.ts'
import { parseLine } from '../shared/json.ts'
import { cut } from '../shared/text.ts'
import { readBookmark } from './bookmark.ts'
import { judgeCard } from './card.ts'
import type { A2aOptions } from './options.ts'
import { ClientRecord, maxLineBytes } from './records.ts'

/** Has our own client cancel a task of the remote agent, and nothing else. */
export async function recall(
  child: Child,
  spec: LaunchSpec<A2aOptions>,
  vendorId: string,
  signal: AbortSignal,
): Promise<Recalled> {
  const send = (message: object) => void (child.stdin.writable && child.stdin.write(`${JSON.stringify(message)}\n`))
  const stop = () => void child.stop({ graceMs: 500 }).catch(() => undefined)
  signal.addEventListener('abort', stop, { once: true })
  child.stdin.on('error', () => undefined)
  child.stderr.resume()
  try {
    send({ type: 'recall', mark: readBookmark(vendorId) })
    for await (const lines of lineBatches(child.stdout, { maxBytes: maxLineBytes }))
      for (const line of lines) {
        const parsed = parseLine(line)
        const record = 'value' in parsed ? ClientRecord.safeParse(parsed.value).data : undefined
        if (record?.type === 'card') send({ type: 'use', chosen: (await judgeCard(record, spec.options)).chosen })
        if (record?.type === 'result') return { ended: record.status === 'done', detail: cut(record.message ?? '', 500) }
      }
    return { ended: false, detail: signal.aborted ? 'There was no time left for it.' : 'The client ended without a result.' }
  } catch (thrown) {
    return { ended: false, detail: messageOf(thrown) }
  } finally {
    signal.removeEventListener('abort', stop)
  }
}
