import { deflateRawSync } from 'node:zlib'
import { afterEach, describe, expect, it } from 'vitest'
import { createToolWorld, type ToolWorld } from '../testing.ts'
import { textOfDocument } from './documents.ts'
import { textOfMarkup } from './markup.ts'

/** An archive as word processors write it; `size` is what its directory claims. */
function archiveOf(name: string, text: string, size = Buffer.byteLength(text)): Buffer {
  const data = deflateRawSync(text)
  const local = Buffer.alloc(30)
  local.writeUInt32LE(0x04034b50, 0)
  local.writeUInt16LE(name.length, 26)
  const entry = Buffer.alloc(46)
  entry.writeUInt32LE(0x02014b50, 0)
  entry.writeUInt16LE(8, 10)
  entry.writeUInt32LE(data.length, 20)
  entry.writeUInt32LE(size, 24)
  entry.writeUInt16LE(name.length, 28)
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50, 0)
  end.writeUInt16LE(1, 10)
  end.writeUInt32LE(30 + name.length + data.length, 16)
  return Buffer.concat([local, Buffer.from(name), data, entry, Buffer.from(name), end])
}

const word = '<w:document><w:p><w:r><w:t>First &lt;1&gt;</w:t></w:r></w:p><w:p><w:r><w:t>Second</w:t></w:r></w:p></w:document>'

describe('the text of a document', () => {
  it('is found in word processor files, notebooks and pages', async () => {
    expect(await textOfDocument(archiveOf('word/document.xml', word), 'docx')).toBe('First <1>\n\nSecond')
    const notebook = { cells: [{ cell_type: 'code', source: ['a = 1\n', 'a'], outputs: [{ data: { 'text/plain': ['1'] } }] }] }
    expect(await textOfDocument(Buffer.from(JSON.stringify(notebook)), 'ipynb')).toBe('[1: code]\na = 1\na\n[output]\n1')
    expect(await textOfDocument(Buffer.from('a,b\n1,2'), 'csv')).toBe('a,b\n1,2')
    expect(await textOfDocument(Buffer.from('x'), 'xyz')).toBeUndefined()
  })

  it.each([
    ['a bomb', archiveOf('word/document.xml', 'x'.repeat(1_000_000))],
    ['a bomb that claims to be small', archiveOf('word/document.xml', 'x'.repeat(1_000_000), 10)],
    ['no archive', Buffer.from('PK nothing')],
    ['a cut archive', archiveOf('word/document.xml', word).subarray(0, 60)],
    ['an archive without text', archiveOf('other.xml', word)],
  ])('is refused where it is %s', async (_, bytes) => {
    await expect(textOfDocument(bytes, 'docx')).rejects.toThrow(/^The document cannot be read: /)
  })

  it('is taken from hostile markup in time that grows with its length', () => {
    for (const part of ['<', '<!--', '<script>', '&', '</', '<p '])
      expect(textOfMarkup(part.repeat(200_000)).length).toBeLessThan(1_000_000)
  })
})

describe('ReadDocument', () => {
  let world: ToolWorld
  afterEach(() => world.remove())

  it('gives a long text in pages, and says which kinds it knows', async () => {
    world = await createToolWorld()
    await world.put({ 'a.txt': 'x'.repeat(150_000), 'a.xyz': '' })
    expect(await world.call('ReadDocument', { file_path: 'a.txt' })).toMatch(/^x{100000}\n… there is more: read page 2 of 2\.$/)
    expect(await world.call('ReadDocument', { file_path: 'a.txt', page: 2 })).toMatch(/^x{50000}$/)
    expect(await world.call('ReadDocument', { file_path: 'a.xyz' })).toMatch(/^unsupported: .* known are .*docx.*, pdf\.$/)
  })

  it('reads a PDF with the program inside the walls, and says plainly if there is none', async () => {
    const commands: string[] = []
    let code = 0
    world = await createToolWorld({
      runInside: async (command) => {
        commands.push(command)
        return { stdout: 'text', stderr: '', code, signal: null, timedOut: false }
      },
    })
    await world.put({ "it's.pdf": '%PDF' })
    expect(await world.call('ReadDocument', { file_path: "it's.pdf" })).toBe('text')
    expect(commands[0]).toContain(`-- '/workspace/it'\\''s.pdf' -`)
    code = 127
    expect(await world.call('ReadDocument', { file_path: "it's.pdf" })).toMatch(/^unsupported: PDF files cannot be read here/)
  })
})
