import { createHash } from 'node:crypto'
import { lstat, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { zstdCompressSync } from 'node:zlib'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { checkArchive, peekArchive } from './archive-reader.ts'
import { createArchive } from './archive-writer.ts'
import { type BackupHeader, magic } from './format.ts'
import { homeEntries, putEntry, refuseOtherFiles } from './home-files.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pawl-archive-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const header: BackupHeader = {
  id: '0'.repeat(32),
  pawl: '1',
  migrations: [1],
  takenAt: '2026-01-01T00:00:00.000Z',
  home: '/x',
  database: { kind: 'embedded', version: '1' },
  sequences: [],
  withKeys: false,
  withWorkspaces: false,
  withLogs: false,
}
const audit = { entries: 0, head: null }

async function* blocksOf(...texts: string[]) {
  for (const text of texts) yield Buffer.from(text)
}

const frame = (kind: string, payload: Buffer) => {
  const head = Buffer.alloc(5)
  head.write(kind, 'latin1')
  head.writeUInt32BE(payload.length, 1)
  return Buffer.concat([head, payload])
}

it('a block that would grow without end is refused, though every hash of the file is right', async () => {
  const file = join(folder, 'bomb.pawl')
  const begin = { part: 'file', path: 'config.yaml', mode: 0o600 } as const
  const content = Buffer.alloc(300 << 20)
  const end = { bytes: content.length, sha256: createHash('sha256').update(content).digest('hex') }
  const say = (kind: string, value: unknown) => frame(kind, Buffer.from(JSON.stringify(value)))
  const all = Buffer.concat([
    magic,
    say('h', header),
    say('p', begin),
    frame('d', zstdCompressSync(content)),
    say('e', end),
    say('m', { parts: [{ ...begin, ...end }], audit }),
  ])
  await writeFile(file, Buffer.concat([all, frame('z', createHash('sha256').update(all).digest())]))
  expect(all.length).toBeLessThan(100_000)
  await expect(checkArchive(file)).rejects.toThrow(/a block of config\.yaml cannot be read/)
})

it('what claims to be longer than anything that is written is no backup, and no memory is taken for it', async () => {
  const file = join(folder, 'long.pawl')
  const head = Buffer.from([...Buffer.from('h'), 0xff, 0xff, 0xff, 0xff])
  await writeFile(file, Buffer.concat([magic, head]))
  expect(await peekArchive(file)).toBeUndefined()
  await expect(checkArchive(file)).rejects.toThrow(/never written/)
})

it('a backup of more files than fit into one ordinary frame can be read again', async () => {
  const file = join(folder, 'many.pawl')
  const archive = await createArchive(file, header)
  const path = `workspaces/${'deep/'.repeat(12_000)}`
  // 64 MiB of names are reached by long ones sooner than by many.
  for (let at = 0; at < 1_200; at++) await archive.part({ part: 'file', path: `${path}${at}`, mode: 0o600 }, blocksOf())
  await archive.finish(audit)
  expect((await peekArchive(file))?.files).toBe(1_200)
  expect((await checkArchive(file)).manifest.parts).toHaveLength(1_200)
}, 60_000)

it.each([
  '../outside',
  '/etc/passwd',
  'prompts/../../outside',
  'prompts//x',
  'token',
  'postgres/data/PG_VERSION',
  'restoring.json',
])('a restore writes no %s', async (path) => {
  const begin = { part: 'file', path, mode: 0o600 } as const
  await expect(refuseOtherFiles(folder, [begin], async () => true)).rejects.toThrow(/which none of this Pawl would/)
  await expect(putEntry(folder, begin, blocksOf('x'))).rejects.toThrow(/which none of this Pawl would/)
  expect(await readdir(folder)).toEqual([])
})

it('a link of a backup is put there as a link, and no file is ever written through one', async () => {
  await putEntry(folder, { part: 'link', path: 'prompts', mode: 0 }, blocksOf('/tmp'))
  expect((await lstat(join(folder, 'prompts'))).isSymbolicLink()).toBe(true)
  const through = putEntry(folder, { part: 'file', path: 'prompts/evil', mode: 0o600 }, blocksOf('x'))
  await expect(through).rejects.toThrow(/is no folder/)
})

it('the keys that a home has go into a backup that is asked for with them, and into no other', async () => {
  for (const name of ['secret.key', 'push-key.pem', 'token', 'config.yaml']) await writeFile(join(folder, name), name)
  const namesWith = async (withKeys: boolean) => {
    const names: string[] = []
    for await (const { begin } of homeEntries(folder, { withKeys, withWorkspaces: false, withLogs: false }))
      names.push(begin.path)
    return names.sort()
  }
  expect(await namesWith(true)).toEqual(['config.yaml', 'push-key.pem', 'secret.key'])
  expect(await namesWith(false)).toEqual(['config.yaml'])
})
