import { spawn } from 'node:child_process'
import { constants } from 'node:fs'
import { access } from 'node:fs/promises'
import { PawlError } from '../../domain/error.ts'

export interface Repair {
  readonly name: string
  readonly commands: readonly (readonly string[])[]
  readonly shown: string
}

/** The fixes of bad rows that are commands we know. What a fix says is text for people: only these ever run. */
export async function findRepairs(rows: readonly { name: string; fix?: string | undefined }[], home: string): Promise<Repair[]> {
  const canInstall = process.platform === 'linux' && process.getuid?.() === 0 && (await isExecutable(aptGet))
  return rows.flatMap(({ name, fix = '' }): Repair[] => {
    if (fix === `chmod 700 ${home}`) return [{ name, commands: [['/bin/chmod', '700', home]], shown: fix }]
    const packages = installable.filter((each) => new RegExp(`apt-get install (-y )?${each}\\b`).test(fix))
    if (packages.length === 0 || !canInstall) return []
    const install = [aptGet, 'install', '-y', '--no-install-recommends', ...packages]
    return [
      { name, commands: [[aptGet, 'update'], install], shown: `apt-get update && apt-get install -y ${packages.join(' ')}` },
    ]
  })
}

/** One command after another, their output on stderr; the first that fails ends it. */
export async function runRepair(repair: Repair): Promise<void> {
  for (const [program, ...args] of repair.commands) {
    const code = await new Promise<number | null>((resolve, reject) => {
      const child = spawn(program!, args, { stdio: ['ignore', process.stderr, process.stderr] })
      child.once('error', reject)
      child.once('exit', resolve)
    })
    if (code !== 0)
      throw new PawlError(
        'unavailable',
        `"${[program, ...args].join(' ')}" ended with ${code ?? 'a signal'}; run it by hand to see why.`,
      )
  }
}

const aptGet = '/usr/bin/apt-get'
const installable = ['bubblewrap', 'util-linux', 'git']

const isExecutable = (path: string) =>
  access(path, constants.X_OK).then(
    () => true,
    () => false,
  )
