import { homedir } from 'node:os'
import type { ProbePlace } from '../agent.ts'
import { messageOf } from '../domain/error.ts'
import { start } from '../process/spawn.ts'
import { signal } from '../process/tree.ts'
import { readChild } from './read-child.ts'
import { createTextKeeper, cut } from './text.ts'

const limitMs = 4_000

/** Asks a program for its version: the first line it prints. Answers within five seconds, never throws, leaves nothing running. */
export async function readVersion(
  file: string,
  args: readonly string[],
  place: ProbePlace,
): Promise<{ version: string } | { fault: string }> {
  const env = { PATH: place.path, HOME: homedir() }
  try {
    const child = await start({ file, args, env, cwd: place.folder ?? '/' })
    const printed = createTextKeeper(16_384)
    const keep = (chunk: Buffer) => printed.add(chunk.toString())
    child.stdin.end()
    const exit = await readChild(child, { signal: AbortSignal.timeout(limitMs), stdout: keep, stderr: keep })
    signal(-child.pid, 'SIGKILL')
    const line = cut(printed.text().trim().split('\n')[0] ?? '', 200)
    if (!exit) return { fault: `it did not end within ${limitMs / 1000} seconds` }
    if (exit.code !== 0) return { fault: `it ended with ${exit.signal ?? `code ${exit.code}`}${line && `: ${line}`}` }
    return line === '' ? { fault: 'it printed nothing' } : { version: line }
  } catch (thrown) {
    return { fault: messageOf(thrown) }
  }
}
