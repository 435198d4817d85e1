import { fileURLToPath } from 'node:url'
import type { ContentBlock } from '@agentclientprotocol/sdk'
import { fenced, named } from '../../domain/base/fenced.ts'
import { invalid } from '../../domain/error.ts'

/** What a prompt of an editor comes to: words for the agent, and files that go with them. */
export interface Prompt {
  readonly text: string
  readonly files: readonly { readonly name: string; readonly content: Uint8Array }[]
}

export function readPrompt(blocks: readonly ContentBlock[]): Prompt {
  const words: string[] = []
  const files: { name: string; content: Uint8Array }[] = []
  for (const block of blocks)
    switch (block.type) {
      case 'text':
        words.push(block.text)
        break
      case 'resource_link':
        words.push(`[${named(block.name) || 'a file'}](${placeOf(block.uri)})`)
        break
      case 'resource':
        if ('text' in block.resource) words.push(`${placeOf(block.resource.uri)}:\n${fenced(block.resource.text)}`)
        else files.push({ name: nameOf(block.resource.uri), content: bytesOf(block.resource.blob) })
        break
      case 'image':
        files.push({ name: `image-${files.length + 1}.${endingOf(block.mimeType)}`, content: bytesOf(block.data) })
        break
      default:
        throw invalid(`A prompt cannot hold ${block.type === 'audio' ? 'sound' : 'this'}; write it down instead.`)
    }
  // An editor takes a message apart where it names files: the pieces belong on one line again unless they bring lines of their own.
  const text = words.reduce(
    (before, next) => (before === '' || /\s$/.test(before) || /^\s/.test(next) ? before + next : `${before} ${next}`),
    '',
  )
  return { text: text.trim() === '' && files.length > 0 ? 'Look at the attached files.' : text, files }
}

/** `/name and the rest`, if there is a command of that name. */
export function readCommand(text: string, names: readonly string[]): { name: string; rest: string } | undefined {
  const [, name = '', rest = ''] = /^\s*\/([\w.-]+)\s*([\s\S]*)$/.exec(text) ?? []
  return names.includes(name) ? { name, rest } : undefined
}

/** The agent knows paths; what else a link may point at stays as it is. */
function placeOf(uri: string): string {
  const place = URL.canParse(uri) && uri.startsWith('file://') ? fileURLToPath(uri.replace(/[?#].*$/, '')) : uri
  return place.replaceAll(/[\s()]+/g, ' ').slice(0, 4096)
}

const nameOf = (uri: string) => named(placeOf(uri).split('/').at(-1) ?? '') || 'file'

function bytesOf(base64: string): Uint8Array {
  if (!/^[\w+/=\s-]*$/.test(base64)) throw invalid('A file of the prompt is not base64.')
  return Buffer.from(base64, 'base64')
}

const endingOf = (type: string) => /^image\/([a-z0-9]{1,10})/i.exec(type)?.[1]?.replace('jpeg', 'jpg').toLowerCase() ?? 'png'
