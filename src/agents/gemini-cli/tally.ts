import { constants } from 'node:fs'
import { type FileHandle, open, readdir } from 'node:fs/promises'
import { posix } from 'node:path'
import { asObject } from '../../domain/base/object.ts'
import { addUsage, noUsage } from '../../domain/money/cost.ts'
import { Usage } from '../../domain/money/usage.ts'
import { noFollow, openDirectory } from '../../sandbox/files/directory-handle.ts'
import { count, text } from '../shared/fields.ts'
import { parseJson } from '../shared/json.ts'
import { cut } from '../shared/text.ts'
import { chatsFolder } from './session-files.ts'

/** More than a turn can add; what is beyond it is not counted. */
const maxBytes = 64 * 1024 * 1024

/** What each model used since the last time. */
export interface Tally {
  take(vendorId: string): Promise<ReadonlyMap<string, Usage>>
}

/**
 * Over ACP the program tells neither what was thought nor what came from a cache, nor how often the model was called. The file of the conversation says all of it,
 * call by call, and only grows. It belongs to the agent: nothing but numbers is taken from it.
 */
export function createTally(home: string): Tally {
  const counted = new Set<string>()
  let at = 0
  return {
    async take(vendorId) {
      const used = new Map<string, Usage>()
      const file = await openChat(posix.join(home, chatsFolder), vendorId)
      if (!file) return used
      try {
        const { size } = await file.stat()
        const bytes = Buffer.alloc(Math.min(Math.max(size - at, 0), maxBytes))
        const { bytesRead } = await file.read(bytes, 0, bytes.length, at)
        const end = bytes.subarray(0, bytesRead).lastIndexOf('\n') + 1
        at += end
        for (const line of bytes.subarray(0, end).toString().split('\n')) {
          const call = readCall(line)
          if (!call || counted.has(call.id)) continue
          counted.add(call.id)
          used.set(call.model, addUsage(used.get(call.model) ?? noUsage, call.usage))
        }
      } finally {
        await file.close()
      }
      return used
    },
  }
}

async function openChat(path: string, vendorId: string): Promise<FileHandle | undefined> {
  // The program is alive and owns the folder: no link of its is followed.
  const folder = await openDirectory(path)
  try {
    const names = folder ? await readdir(folder.at('.')) : []
    const [oldest] = names.filter((name) => name.endsWith(`${vendorId.slice(0, 8)}.jsonl`)).toSorted()
    if (!folder || oldest === undefined) return undefined
    const file = await open(folder.at(oldest), constants.O_RDONLY | noFollow | constants.O_NONBLOCK)
    if ((await file.stat()).isFile()) return file
    await file.close()
  } catch {
    // What cannot be read is not counted: the program's own figure stays.
  } finally {
    await folder?.close()
  }
  return undefined
}

function readCall(line: string): { readonly id: string; readonly model: string; readonly usage: Usage } | undefined {
  if (!line.includes('"tokens"')) return undefined
  const parsed = parseJson(line)
  const message = 'value' in parsed ? asObject(parsed.value) : undefined
  const tokens = asObject(message?.tokens)
  const id = text(message?.id)
  if (message?.type !== 'gemini' || id === undefined || !tokens) return undefined
  const input = count(tokens.input) ?? 0
  const cached = Math.min(count(tokens.cached) ?? 0, input)
  const usage = Usage.parse({
    inputTokens: input - cached,
    cacheReadTokens: cached,
    outputTokens: (count(tokens.output) ?? 0) + (count(tokens.thoughts) ?? 0),
    turns: 1,
  })
  return { id, model: cut(text(message.model) ?? '', 200), usage }
}
