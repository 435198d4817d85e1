import { open, readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { sandboxPath } from '../../../domain/base/path.ts'
import { realPath, shown } from './files.ts'
import { runCommand } from './run-command.ts'
import { flag, given, number, type Returned, type Tool, type ToolPlace, text } from './tool.ts'
import { cutText } from './window.ts'

const maxTextBytes = 10 * 1024 * 1024
const maxImageBytes = 5 * 1024 * 1024
const maxLines = 2_000
const maxEntries = 500
const skipped = new Set(['.git', 'node_modules'])

export const readTool: Tool = {
  name: 'read',
  description: `Read a file with its line numbers, at most ${maxLines} lines at once; offset and limit choose which. Images are shown to you if you can see.`,
  parameters: {
    type: 'object',
    properties: {
      path: { type: 'string', description: 'Relative to the workspace.' },
      offset: { type: 'number', description: 'The first line, counted from 1.' },
      limit: { type: 'number', description: 'How many lines.' },
    },
    required: ['path'],
  },
  isHarmless: true,
  async run(input, at) {
    const path = realPath(text(input, 'path'), at)
    const found = await stat(path)
    if (found.isDirectory()) throw new Error(`${shown(path, at)} is a folder; use list.`)
    if (!found.isFile()) throw new Error(`${shown(path, at)} is no plain file.`)
    if (await isImage(path)) return readImage(path, found.size, at)
    if (found.size > maxTextBytes)
      throw new Error(
        `${shown(path, at)} has ${found.size} bytes, which is too much to read; use grep, or bash with head and tail.`,
      )
    const bytes = await readFile(path)
    if (bytes.subarray(0, 8_192).includes(0)) throw new Error(`${shown(path, at)} is no text.`)
    const lines = bytes.toString('utf8').split('\n')
    const first = Math.max(1, Math.floor(number(input, 'offset') ?? 1))
    const count = Math.min(Math.max(1, Math.floor(number(input, 'limit') ?? maxLines)), maxLines)
    const taken = lines.slice(first - 1, first - 1 + count)
    const left = lines.length - (first - 1) - taken.length
    const numbered = taken.map((line, index) => `${first + index}\t${line.length > 2_000 ? cutText(line, 2_000) : line}`)
    const more = left > 0 ? `\n[${left} more lines; go on with offset ${first + taken.length}]` : ''
    return { output: cutText(numbered.join('\n'), at.maxChars) + more }
  },
}

const beginnings = ['89504e470d0a1a0a', 'ffd8ff', '47494638']

async function isImage(path: string): Promise<boolean> {
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(12), 0, 12, 0)
    const begins = buffer.subarray(0, bytesRead).toString('hex')
    const isWebp = begins.startsWith('52494646') && buffer.toString('latin1', 8, 12) === 'WEBP'
    return isWebp || beginnings.some((beginning) => begins.startsWith(beginning))
  } finally {
    await file.close()
  }
}

async function readImage(path: string, size: number, at: ToolPlace): Promise<Returned> {
  if (!at.canSee) throw new Error(`${shown(path, at)} is an image, and this model cannot see images.`)
  if (size > maxImageBytes) throw new Error(`${shown(path, at)} has ${size} bytes; an image may have ${maxImageBytes}.`)
  return { output: `The image ${shown(path, at)}, ${size} bytes.`, images: [(await readFile(path)).toString('base64')] }
}

export const listTool: Tool = {
  name: 'list',
  description: `List the files of a folder, at most ${maxEntries}; folders end in a slash. With recursive also what is in them, but for .git and node_modules.`,
  parameters: {
    type: 'object',
    properties: {
      path: { type: 'string', description: 'Relative to the workspace, which it is if left out.' },
      recursive: { type: 'boolean' },
    },
  },
  isHarmless: true,
  async run(input, at) {
    const root = realPath(given(input, 'path') === undefined ? '.' : text(input, 'path'), at)
    const found: string[] = []
    const folders = [root]
    for (let folder = folders.shift(); folder !== undefined && found.length <= maxEntries; folder = folders.shift()) {
      const entries = await readdir(folder, { withFileTypes: true })
      for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
        const path = sandboxPath(join(folder, entry.name))
        found.push(`${shown(path, at)}${entry.isDirectory() ? '/' : ''}`)
        if (entry.isDirectory() && flag(input, 'recursive') && !skipped.has(entry.name)) folders.push(path)
      }
    }
    if (found.length === 0) return { output: '(the folder is empty)' }
    const more = found.length > maxEntries ? `\n[more than ${maxEntries}; list a folder of it]` : ''
    return { output: cutText(found.slice(0, maxEntries).join('\n'), at.maxChars) + more }
  },
}

export const grepTool: Tool = {
  name: 'grep',
  description: 'Search the files of a folder for a regular expression (extended syntax); gives file, line number and line.',
  parameters: {
    type: 'object',
    properties: {
      pattern: { type: 'string', description: 'What to look for.' },
      path: { type: 'string', description: 'A folder or file, relative to the workspace, which it is if left out.' },
      include: { type: 'string', description: 'Only files whose name fits, for example *.ts' },
    },
    required: ['pattern'],
  },
  isHarmless: true,
  async run(input, at) {
    const path = realPath(given(input, 'path') === undefined ? '.' : text(input, 'path'), at)
    const include = given(input, 'include')
    const args = [
      ...['-rnIE', '-m', '200', ...[...skipped].map((name) => `--exclude-dir=${name}`)],
      ...(typeof include === 'string' && include !== '' ? [`--include=${include}`] : []),
      ...['-e', text(input, 'pattern'), '--', shown(path, at)],
    ]
    const limits = { cwd: at.workspace, timeoutMs: 30_000, maxBytes: at.maxChars, signal: at.signal }
    const { output, code, timedOut } = await runCommand('grep', args, limits)
    const said = output.trimEnd()
    if (timedOut) return { output: `${said}\n[ended after 30 seconds; search in a smaller folder]`.trimStart(), isError: true }
    if (code === 0 || (code === 2 && said !== '')) return { output: said, isError: code !== 0 }
    return code === 1 ? { output: '(nothing found)' } : { output: said || 'grep could not be run.', isError: true }
  },
}
