import { execFile } from 'node:child_process'
import { createHash, randomUUID } from 'node:crypto'
import { chmod, copyFile, lstat, mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { messageOf, unavailable } from '../../src/domain/error.ts'

export interface CachedInstall {
  /** Holds the `package.json` and `package-lock.json` that say what to install. */
  readonly from: string
  /** Holds one folder for each thing installed; it is made if missing. */
  readonly cache: string
  /** What it is, in a sentence. */
  readonly what: string
  /** Completes the folder before it is put in place; no script of a package is run. */
  readonly finish?: (folder: string) => Promise<void>
  readonly say?: (line: string) => void
}

/** Written last, so a folder that has it was complete once. Its time is that of the last use. */
const sealFile = 'seal.json'
const inputs = ['package.json', 'package-lock.json']
const unusedMs = 30 * 24 * 3_600_000
/** No install takes as long, so whoever began it is gone. */
const abandonedMs = 3_600_000
const npmTimeoutMs = 600_000

/**
 * The folder with the `node_modules` of a lock file, named after the content of that lock, so a changed lock is another folder. Needs the
 * network only if it is not there, or damaged. Processes that install the same thing at the same time do so apart; the first to finish
 * puts its folder in place and the others take it.
 */
export async function cachedInstall(request: CachedInstall): Promise<string> {
  const folder = join(request.cache, await contentHash(request.from))
  if (!(await isSound(folder))) {
    const say = request.say ?? ((line) => process.stderr.write(`${line}\n`))
    say(`Installing ${request.what} into ${request.cache}; this happens once and takes a minute.`)
    await install(request, folder)
    await removeUnused(request.cache)
  }
  const now = new Date()
  await utimes(join(folder, sealFile), now, now)
  return folder
}

async function contentHash(from: string): Promise<string> {
  const hash = createHash('sha256').update(`${process.platform} ${process.arch}\n`)
  for (const name of inputs) hash.update(await readFile(join(from, name))).update('\0')
  return hash.digest('hex').slice(0, 32)
}

async function install(request: CachedInstall, folder: string): Promise<void> {
  const staging = `${folder}.${randomUUID()}`
  try {
    await mkdir(staging, { recursive: true })
    // An agent behind walls is another user than the one who installs.
    await chmod(staging, 0o755)
    for (const name of inputs) await copyFile(join(request.from, name), join(staging, name))
    await runNpm(staging)
    await request.finish?.(staging)
    await writeFile(join(staging, sealFile), JSON.stringify(await sizes(staging)))
    await putInPlace(staging, folder)
  } catch (error) {
    throw unavailable(
      `Cannot install ${request.what} into "${request.cache}". Check that npm is there, that it reaches its registry and that the folder can be written (PAWL_TEST_CACHE names another), then run the tests again. What went wrong: ${messageOf(error)}`,
      error,
    )
  } finally {
    await rm(staging, { recursive: true, force: true }).catch(ifMissing)
  }
}

type NpmFailure = Error & { readonly stderr: string; readonly killed: boolean }

async function runNpm(folder: string): Promise<void> {
  // An `npm ci` in the checkout would empty its node_modules; --prefix leaves nothing to the environment of a surrounding npm.
  const words = [
    'npm',
    'ci',
    '--prefix',
    folder,
    '--ignore-scripts',
    '--include=optional',
    '--prefer-offline',
    '--no-audit',
    '--no-fund',
  ]
  // npm runs with our Node, whatever the system's is.
  const env = { ...process.env, PATH: dirname(process.execPath) + delimiter + (process.env.PATH ?? '') }
  const options = { cwd: folder, env, timeout: npmTimeoutMs }
  await promisify(execFile)('/bin/sh', ['-c', 'umask 022; exec "$@"', 'sh', ...words], options).catch((error: NpmFailure) => {
    const said = error.stderr.split('\n').filter((line) => line !== '' && !/^npm (warn|error +at )/.test(line))
    throw new Error(error.killed ? `npm did not end within ${npmTimeoutMs / 60_000} minutes.` : said.join('\n'))
  })
}

async function putInPlace(staging: string, folder: string): Promise<void> {
  const isPlaced = () =>
    rename(staging, folder).then(
      () => true,
      (error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOTEMPTY' || error.code === 'EEXIST') return false
        throw error
      },
    )
  while (!(await isPlaced())) {
    if (await isSound(folder)) return
    await discard(folder)
  }
}

/** Is it complete, and as it was when it was sealed? Sizes tell what happens to caches: files cut short, emptied or cleaned away. */
async function isSound(folder: string): Promise<boolean> {
  const seal = await readFile(join(folder, sealFile), 'utf8').catch(ifMissing)
  if (seal === undefined) return false
  return seal === JSON.stringify(await sizes(folder))
}

/** Every file of the installed packages with its size, in a fixed order. */
async function sizes(folder: string): Promise<[file: string, size: number][]> {
  const entries = await readdir(join(folder, 'node_modules'), { recursive: true, withFileTypes: true }).catch(ifMissing)
  const files = (entries ?? []).filter((entry) => !entry.isDirectory()).map((entry) => join(entry.parentPath, entry.name))
  return Promise.all(
    files
      .sort()
      .map(
        async (file): Promise<[string, number]> => [
          file.slice(folder.length + 1),
          (await lstat(file).catch(ifMissing))?.size ?? -1,
        ],
      ),
  )
}

async function removeUnused(cache: string): Promise<void> {
  for (const name of await readdir(cache)) {
    const path = join(cache, name)
    const used = (await stat(join(path, sealFile)).catch(ifMissing)) ?? (await stat(path).catch(ifMissing))
    const keepMs = name.includes('.') ? abandonedMs : unusedMs
    if (used && Date.now() - used.mtimeMs > keepMs) await discard(path)
  }
}

/** Moved away first, so that nobody finds it half removed. */
async function discard(path: string): Promise<void> {
  const aside = `${path}.${randomUUID()}`
  const found = await rename(path, aside).then(() => true, ifMissing)
  if (found) await rm(aside, { recursive: true, force: true })
}

function ifMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR') throw error
}
