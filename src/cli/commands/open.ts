import { spawn } from 'node:child_process'
import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Command } from 'commander'
import { clientSettings, environmentOf } from '../../config/config.ts'
import { unavailable } from '../../domain/error.ts'
import { withConnection } from '../connecting/connect.ts'
import type { Cli } from '../terminal/cli.ts'

export function define(command: Command, cli: Cli): void {
  command
    .description('Open the daemon’s page in a browser of this machine, signed in for twelve hours.')
    .option('--print', 'only print the address: it signs one browser in, once, within a minute')
    .addHelpText('after', '\nExample\n  pawl open --print')
    .action((options: { print?: boolean }) => openPage(cli, options))
}

async function openPage(cli: Cli, { print }: { print?: boolean }): Promise<void> {
  await withConnection(cli, { work: 'none' }, async ({ entrance, url }) => {
    if (url === undefined) throw unavailable('There is no daemon whose page could be opened; start one with "pawl serve".')
    const { path, expiresAt } = await entrance.createSignInCode({ by: 'cli' }, { opens: true })
    const address = new URL(path, url).href
    const opener = print ? undefined : findOpener()
    const isOpened = opener !== undefined && (await opens(opener, await pageLeadingTo(cli, address)))
    if (cli.globals.json) return cli.json({ url: address, expiresAt, opened: isOpened })
    if (isOpened) return cli.say('Opened in a browser. If nothing shows up there: pawl open --print')
    cli.out(address)
    cli.say(`${print ? '' : 'No browser could be opened here. '}Open it within a minute; it works once.`)
  })
}

/**
 * The browser is given a file instead of the address: arguments of programs can be read by everybody on the machine, the file only by us. There is one, and the code in the
 * one before is dead.
 */
async function pageLeadingTo(cli: Cli, address: string): Promise<string> {
  const { home } = await clientSettings({ cwd: cli.cwd, home: cli.globals.home })
  const file = join(home, 'open.html')
  const next = `${file}.${process.pid}`
  const quoted = address.replaceAll('&', '&amp;').replaceAll('"', '&quot;')
  await writeFile(
    next,
    `<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer"><meta http-equiv="refresh" content="0;url=${quoted}"><title>Pawl</title><a href="${quoted}">Pawl</a>\n`,
    { mode: 0o600, flag: 'wx' },
  )
  await rename(next, file)
  return file
}

/** Undefined where nobody would see a browser. */
function findOpener(): string | undefined {
  const isMac = process.platform === 'darwin'
  const { DISPLAY, WAYLAND_DISPLAY } = environmentOf(['DISPLAY', 'WAYLAND_DISPLAY'])
  if (!isMac && !DISPLAY && !WAYLAND_DISPLAY) return undefined
  return isMac ? 'open' : 'xdg-open'
}

/** Such programs hand the page to a browser and end; one that becomes the browser itself goes on without us. */
function opens(opener: string, file: string): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(opener, [`file://${file}`], { stdio: 'ignore', detached: true })
    const seen = setTimeout(() => settle(true), 3_000)
    const settle = (isOpened: boolean) => {
      clearTimeout(seen)
      child.unref()
      resolve(isOpened)
    }
    child.once('error', () => settle(false))
    child.once('exit', (code) => settle(code === 0))
  })
}
