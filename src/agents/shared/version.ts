import { lstat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { messageOf } from '../../domain/error.ts'
import { fileMark } from '../../sandbox/process/file-mark.ts'
import { withOwnNode } from '../../sandbox/process/program.ts'
import { start } from '../../sandbox/process/spawn.ts'
import { signal } from '../../sandbox/process/tree.ts'
import { isTrusted, trustedFolders } from '../../sandbox/process/trusted-program.ts'
import type { AgentHealth, ProbePlace } from '../port.ts'
import { readChild } from './read-child.ts'
import { createTextKeeper, cut } from './text.ts'

const limitMs = 4_000

export type Version = { readonly version: string } | { readonly fault: string } | { readonly unasked: string }

/**
 * Asks a program for its version: the first line it prints. Answers within five seconds, never throws, leaves nothing running. It is asked outside of all walls, so
 * one that an agent may have written is not asked; nor does it find anything there by its folder, its search path or its home.
 */
export async function readVersion(
  file: string,
  args: readonly string[],
  place: ProbePlace,
  /** How it was found, if that was a link or a launcher: whoever may write that chooses what is started. */
  foundAt: string = file,
): Promise<Version> {
  try {
    const written = [...(place.untrusted ?? []), ...(place.folder === undefined ? [] : [place.folder]), ...ownCommands()]
    for (const path of [foundAt, file]) if (!(await isTrusted(path, written))) return unasked
    if (await namesUntrusted(args, place.folder, written)) return unasked
    const mark = place.versions && (await fileMark(file))
    const same = JSON.stringify([file, args, mark])
    const known = mark === undefined ? undefined : place.versions?.get(same)
    if (known !== undefined) return { version: known }
    const home = homedir()
    const env = {
      PATH: await trustedFolders(withOwnNode(place.path), written),
      HOME: (await isTrusted(home, written)) ? home : '/',
    }
    const child = await start({ file, args, env, cwd: '/' })
    const printed = createTextKeeper(16_384)
    const keep = (chunk: Buffer) => printed.add(chunk.toString())
    child.stdin.end()
    const exit = await readChild(child, { signal: AbortSignal.timeout(limitMs), stdout: keep, stderr: keep })
    signal(-child.pid, 'SIGKILL')
    const line = cut(printed.text().trim().split('\n')[0] ?? '', 200)
    if (!exit) return { fault: `it did not end within ${limitMs / 1000} seconds` }
    if (exit.code !== 0) return { fault: `it ended with ${exit.signal ?? `code ${exit.code}`}${line && `: ${line}`}` }
    if (line === '') return { fault: 'it printed nothing' }
    if (mark !== undefined) place.versions?.set(same, line)
    return { version: line }
  } catch (thrown) {
    return { fault: messageOf(thrown) }
  }
}

/**
 * The number in what a program prints of its version, for those whose releases are numbered; all of it if there is none. `aside` is why it was not asked; `broken` what a probe
 * says of a program that cannot tell.
 */
export async function numberedVersion(
  program: string,
  place: ProbePlace,
  foundAt: string,
): Promise<{ readonly version?: string; readonly aside: string } | { readonly broken: AgentHealth }> {
  const answer = await readVersion(program, ['--version'], place, foundAt)
  if ('version' in answer)
    return { version: /\d{1,9}\.\d{1,9}\.\d{1,9}\S*/.exec(answer.version)?.[0] ?? answer.version, aside: '' }
  if ('unasked' in answer) return { aside: `; ${answer.unasked}` }
  const detail = `${program} --version: ${answer.fault}`
  return { broken: { installed: true, program, healthy: false, detail, fix: 'Run that command in a terminal to see why.' } }
}

const unasked = { unasked: 'its version is not asked, because agents may write it' }

/** What npm puts on the search path of what it starts in a project: agents work in projects, in this one too, whatever the workspace at hand is. */
function ownCommands(): string[] {
  const folders = [process.cwd()]
  for (let next = dirname(folders[0]!); next !== folders.at(-1); next = dirname(next)) folders.push(next)
  return folders.map((folder) => join(folder, 'node_modules/.bin'))
}

/** An interpreter is asked by a script among its arguments. */
async function namesUntrusted(args: readonly string[], folder = '/', written: readonly string[]): Promise<boolean> {
  for (const argument of args.flatMap((text) => [text, text.slice(text.indexOf('=') + 1)])) {
    const path = resolve(folder, argument)
    const exists = await lstat(path).then(
      () => true,
      () => false,
    )
    if (argument !== '' && exists && !(await isTrusted(path, written))) return true
  }
  return false
}
