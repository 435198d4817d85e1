import { execFile } from 'node:child_process'
import { mkdir, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { clientSettings, environmentOf, searchPath } from '../../config/config.ts'
import { PawlError } from '../../domain/error.ts'
import type { Cli } from '../terminal/cli.ts'
import { launchdFile, launchdLabel, type ServiceParts, systemdUnit, unitName } from './unit.ts'

/** The service of this user on this system: its file, what stands in it, and how it is spoken to. */
export interface Service {
  readonly kind: 'systemd' | 'launchd'
  readonly file: string
  readonly text: string
  /** Commands that take it up, and that take it away again. */
  readonly start: readonly (readonly string[])[]
  readonly stop: readonly (readonly string[])[]
  readonly state: readonly string[]
  /** What is left for the person to do, if they want it to outlive their login. */
  readonly next: string
}

export async function serviceOf(cli: Cli, platform: NodeJS.Platform = process.platform): Promise<Service> {
  const { home } = await clientSettings({ cwd: cli.cwd, home: cli.globals.home })
  const parts: ServiceParts = {
    command: [process.execPath, await program(), 'serve', '--home', home],
    home,
    path: searchPath(),
    logFile: join(home, 'daemon.log'),
  }
  const { HOME = '/', XDG_CONFIG_HOME } = environmentOf(['HOME', 'XDG_CONFIG_HOME'])
  if (platform === 'linux')
    return {
      kind: 'systemd',
      file: join(XDG_CONFIG_HOME || join(HOME, '.config'), 'systemd', 'user', unitName),
      text: systemdUnit(parts),
      start: [
        ['systemctl', '--user', 'daemon-reload'],
        ['systemctl', '--user', 'enable', '--now', unitName],
      ],
      stop: [['systemctl', '--user', 'disable', '--now', unitName]],
      state: ['systemctl', '--user', 'is-active', unitName],
      next: 'So that it runs without you being logged in: loginctl enable-linger. Its log: journalctl --user -u pawl -f',
    }
  if (platform === 'darwin') {
    const file = join(HOME, 'Library', 'LaunchAgents', `${launchdLabel}.plist`)
    return {
      kind: 'launchd',
      file,
      text: launchdFile(parts),
      start: [['launchctl', 'load', '-w', file]],
      stop: [['launchctl', 'unload', '-w', file]],
      state: ['launchctl', 'list', launchdLabel],
      next: `It runs while you are logged in. Its log: ${parts.logFile}`,
    }
  }
  throw new PawlError(
    'unsupported',
    `There is no service for ${platform}; start "pawl serve" the way this system starts programs.`,
  )
}

/** The program that runs now, links followed: the one on the PATH of a shell may be another tomorrow. */
const program = () => realpath(process.argv[1]!)

export async function writeService({ file, text }: Service): Promise<'written' | 'unchanged'> {
  if ((await readService(file)) === text) return 'unchanged'
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, text, { mode: 0o644 })
  return 'written'
}

/** Undefined if there is none. */
export const readService = (file: string): Promise<string | undefined> =>
  readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })

export const removeService = ({ file }: Service) => rm(file, { force: true })

/** Runs commands one after the other up to the first that fails, which is said. */
export async function carryOut(commands: readonly (readonly string[])[]): Promise<{ failed?: string; said: string }> {
  let said = ''
  for (const [name, ...args] of commands) {
    const ended = await new Promise<{ code: number; text: string }>((done) =>
      execFile(name!, args, { timeout: 60_000 }, (error, stdout, stderr) =>
        done({ code: error ? 1 : 0, text: `${stdout}${stderr}`.trim() || (error?.message ?? '') }),
      ),
    )
    said = ended.text
    if (ended.code !== 0) return { failed: [name, ...args].join(' '), said }
  }
  return { said }
}
