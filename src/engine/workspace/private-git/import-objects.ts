import { createHash } from 'node:crypto'
import {
  closeSync,
  constants,
  copyFileSync,
  createReadStream,
  fchmodSync,
  fchownSync,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { type DirectoryHandle, isThere, noFollow } from '../../../sandbox/files/directory-handle.ts'
import { inFolderBelow, inMadeFolder } from '../../../sandbox/files/make-folders.ts'
import { removeTree } from '../../../sandbox/files/remove-tree.ts'
import { copyObjects, makeBareGit, type ObjectStore, typesOf } from '../git.ts'
import { filesBelow } from './git-state.ts'

/** The agent's new objects, ready to be looked at and copied. */
export interface NewObjects {
  /** What kind each of these is; without those that neither the agent nor the real repository has. */
  typesOf(ids: readonly string[]): Promise<Map<string, string>>
  /** Copies what these need into the real repository. Throws a `PawlError` if git refuses an object of it. */
  bring(tips: readonly string[], known: readonly string[]): Promise<void>
  close(): Promise<void>
}

/**
 * Only regular files of the right names are taken from the agent's folder, so no link, no list of other places and no cache of what leads to what: git reads them in a
 * repository of ours, with the real objects behind them.
 */
export async function openNewObjects(
  own: DirectoryHandle,
  common: DirectoryHandle,
  place: {
    readonly folder: string
    readonly realObjects: string
    readonly isSha256: boolean
    readonly isPartial: boolean
    readonly shallow: string
  },
): Promise<NewObjects> {
  const { folder, realObjects, isSha256, isPartial } = place
  await removeTree(folder)
  const store = (name: string): ObjectStore => {
    const objects = join(folder, name)
    mkdirSync(join(objects, 'info'), { recursive: true, mode: 0o700 })
    mkdirSync(join(objects, 'pack'), { mode: 0o700 })
    writeFileSync(join(objects, 'info/alternates'), `${realObjects}\n`)
    return { gitdir: join(folder, 'git'), objects }
  }
  const [from, to] = [store('in'), store('out')]
  makeBareGit(from.gitdir, isSha256)
  if (place.shallow !== '') writeFileSync(join(from.gitdir, 'shallow'), place.shallow)
  const count = await takeObjects(own, from.objects)
  return {
    typesOf: (ids) => (ids.length === 0 ? Promise.resolve(new Map()) : typesOf(from, ids)),
    async bring(tips, known) {
      if (count === 0 || tips.length === 0) return
      const pack = await copyObjects(from, to, { tips, known, isPartial })
      if (pack !== undefined && readFileSync(join(to.objects, 'pack', `pack-${pack}.pack`)).readUInt32BE(8) > 0)
        await movePack(to.objects, common, pack)
    },
    close: () => removeTree(folder),
  }
}

async function takeObjects(own: DirectoryHandle, to: string): Promise<number> {
  let count = 0
  await filesBelow(own, 'objects', (file, folder, name) => {
    const found =
      /^(?:([0-9a-f]{2})\/(?:[0-9a-f]{38}|[0-9a-f]{62})|pack\/pack-(?:[0-9a-f]{40}|[0-9a-f]{64})\.(?:pack|idx))$/.exec(file)
    if (!found) return
    if (found[1] !== undefined) mkdirSync(join(to, found[1]), { recursive: true, mode: 0o700 })
    takeFile(folder.at(name), join(to, file))
    count++
  })
  return count
}

/** Under a second name where that can be done. */
function takeFile(from: string, to: string): void {
  try {
    linkSync(from, to)
    if (!lstatSync(to).isFile()) unlinkSync(to)
  } catch {
    if (lstatSync(from, { throwIfNoEntry: false })?.isFile()) copyFileSync(from, to, constants.COPYFILE_EXCL)
  }
}

/** The index comes last: without it git does not see the pack. Whoever owns the folder owns what is in it. */
async function movePack(from: string, common: DirectoryHandle, pack: string): Promise<void> {
  await inMadeFolder(common, 'objects/pack', async (folder) => {
    if (!folder) throw new Error('the folder of packs is a link, or no folder')
    const names = readdirSync(join(from, 'pack')).filter((name) => name.startsWith(`pack-${pack}.`))
    for (const name of names.toSorted((a, b) => Number(a.endsWith('.idx')) - Number(b.endsWith('.idx'))))
      if (!isThere(folder, name)) await putWhole(join(from, 'pack', name), folder, name)
  })
}

async function putWhole(from: string, folder: DirectoryHandle, name: string): Promise<void> {
  const owner = await folder.stat()
  // Git clears such a file away if we die here.
  const temporary = folder.at(`tmp_pawl_${name}`)
  if (isThere(folder, `tmp_pawl_${name}`)) unlinkSync(temporary)
  copyFileSync(from, temporary, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE)
  const file = openSync(temporary, constants.O_RDONLY | noFollow)
  try {
    fchownSync(file, owner.uid, owner.gid)
    fchmodSync(file, 0o444)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  renameSync(temporary, folder.at(name))
}

/** Large files are kept by their digest: those that are what they are called are copied. */
export async function bringLargeFiles(own: DirectoryHandle, common: DirectoryHandle): Promise<void> {
  const found: string[] = []
  await filesBelow(own, 'lfs/objects', (file) => {
    const [, one, two, id] = /^([0-9a-f]{2})\/([0-9a-f]{2})\/([0-9a-f]{64})$/.exec(file) ?? []
    if (id?.startsWith(`${one}${two}`)) found.push(file)
  })
  for (const file of found)
    await inFolderBelow(own, `lfs/objects/${file.slice(0, 5)}`, async (from) => {
      const name = file.slice(6)
      if (!from || (await digestAt(from, name)) !== name) return
      await inMadeFolder(common, `lfs/objects/${file.slice(0, 5)}`, async (to) => {
        if (to && !isThere(to, name)) await putWhole(from.at(name), to, name)
      })
    })
}

async function digestAt(folder: DirectoryHandle, name: string): Promise<string> {
  const fd = openSync(folder.at(name), constants.O_RDONLY | constants.O_NONBLOCK | noFollow)
  const hash = createHash('sha256')
  for await (const bytes of createReadStream('', { fd })) hash.update(bytes as Buffer)
  return hash.digest('hex')
}
