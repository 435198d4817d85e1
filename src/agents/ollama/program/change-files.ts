import { mkdir, readFile, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { realPath, replaceFile, shown } from './files.ts'
import { flag, type Tool, text } from './tool.ts'

const maxBytes = 10 * 1024 * 1024

export const writeTool: Tool = {
  name: 'write',
  description: 'Write a whole file, new or in place of an old one. Folders on the way are made.',
  parameters: {
    type: 'object',
    properties: {
      path: { type: 'string', description: 'Relative to the workspace.' },
      content: { type: 'string', description: 'All that the file is to hold.' },
    },
    required: ['path', 'content'],
  },
  async run(input, at) {
    const path = realPath(text(input, 'path'), at)
    const content = text(input, 'content')
    if (Buffer.byteLength(content) > maxBytes) throw new Error(`A file may have at most ${maxBytes} bytes.`)
    await mkdir(dirname(path), { recursive: true })
    await replaceFile(path, content)
    return { output: `${shown(path, at)} written, ${Buffer.byteLength(content)} bytes.` }
  },
}

export const editTool: Tool = {
  name: 'edit',
  description:
    'Replace a piece of a file. oldText must be in it exactly as you give it, and once only unless replaceAll is true: give enough lines around it.',
  parameters: {
    type: 'object',
    properties: {
      path: { type: 'string', description: 'Relative to the workspace.' },
      oldText: { type: 'string', description: 'What is there now.' },
      newText: { type: 'string', description: 'What is to be there.' },
      replaceAll: { type: 'boolean', description: 'Replace it wherever it is.' },
    },
    required: ['path', 'oldText', 'newText'],
  },
  async run(input, at) {
    const path = realPath(text(input, 'path'), at)
    const [from, to] = [text(input, 'oldText'), text(input, 'newText')]
    if (from === '') throw new Error('oldText is empty; to write a whole file use write.')
    if ((await stat(path)).size > maxBytes) throw new Error(`${shown(path, at)} has more than ${maxBytes} bytes.`)
    const parts = (await readFile(path, 'utf8')).split(from)
    const count = parts.length - 1
    if (count === 0) throw new Error(`oldText is not in ${shown(path, at)}. Read the file, and give it exactly, with its spaces.`)
    if (count > 1 && !flag(input, 'replaceAll'))
      throw new Error(`oldText is ${count} times in ${shown(path, at)}. Give more lines around it, or set replaceAll.`)
    await replaceFile(path, parts.join(to))
    return { output: `${shown(path, at)} changed in ${count} ${count === 1 ? 'place' : 'places'}.` }
  },
}
