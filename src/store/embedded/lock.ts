import { randomUUID } from 'node:crypto'
import { linkSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { sleep, systemClock } from '../../base/clock.ts'
import { unavailable } from '../../domain/error.ts'
import { isGone, ownProcess, type ProcessMark, processMark } from './process-mark.ts'

/**
 * One process at a time may start, join or stop the server of a home.
 *
 * Numbered tickets in a folder: the highest one holds the lock. Whoever finds that ticket released, or its owner dead, links
 * the next number, which succeeds for exactly one. Numbers never go back, so a slow process that judged an old ticket cannot
 * take away a lock that has meanwhile passed to somebody else, as it could when breaking a single lock file.
 */
export async function withLock<T>(dir: string, work: () => Promise<T>, options: LockOptions = {}): Promise<T> {
  const ticket = await acquire(dir, options)
  try {
    return await work()
  } finally {
    // The file stays as the highest number; the next owner removes it.
    place(dir, { owner: null }, (draft) => renameSync(draft, ticket))
  }
}

const Ticket = z.object({ owner: processMark.nullable() })

export interface LockOptions {
  readonly waitMs?: number
  /** What whoever holds it is doing, for the one who waits in vain. */
  readonly busyWith?: string
}

async function acquire(dir: string, options: LockOptions): Promise<string> {
  const { waitMs = 90_000, busyWith = 'starting or stopping the embedded database' } = options
  const deadline = systemClock.monotonic() + waitMs
  for (;;) {
    const highest = numbersIn(dir).at(-1) ?? 0
    const owner = ownerOf(dir, highest)
    if (owner === null) {
      const mine = highest + 1
      if (claim(dir, mine)) return ticketPath(dir, mine)
      continue
    }
    if (systemClock.monotonic() > deadline) {
      throw unavailable(
        `Process ${owner.pid} has been ${busyWith} for more than ${Math.round(waitMs / 1000)} s. ` +
          `Wait for it or end it; if no such process exists any more, remove the folder "${dir}".`,
      )
    }
    await sleep(systemClock, 15)
  }
}

/** Null when the ticket binds nobody: never made, released, or its owner is dead. */
function ownerOf(dir: string, number: number): ProcessMark | null {
  if (number === 0) return null
  const text = readIfThere(ticketPath(dir, number))
  // Removed since it was listed: a higher one exists, and linking ours will be undone by the check in `claim`.
  if (text === undefined) return null
  const owner = parseTicket(text)?.owner ?? null
  return owner === null || isGone(owner) ? null : owner
}

/** Tickets appear whole, so half a one was cut by a crash of the machine, and its owner with it. */
function parseTicket(text: string): z.infer<typeof Ticket> | undefined {
  try {
    return Ticket.parse(JSON.parse(text))
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof z.ZodError) return undefined
    throw error
  }
}

function claim(dir: string, number: number): boolean {
  const path = ticketPath(dir, number)
  try {
    place(dir, { owner: ownProcess() }, (draft) => linkSync(draft, path))
  } catch (error) {
    // The number is taken, or its taker has already swept our draft away.
    if (isCode(error, 'EEXIST', 'ENOENT')) return false
    throw error
  }
  if (numbersIn(dir).at(-1) !== number) {
    rmSync(path, { force: true })
    return false
  }
  for (const name of readdirSync(dir)) {
    if (name.startsWith('draft-') || Number(name) < number) rmSync(join(dir, name), { force: true })
  }
  return true
}

/** Written aside and moved into place whole, so that no reader ever sees half a ticket. */
function place(dir: string, ticket: z.infer<typeof Ticket>, move: (draft: string) => void): void {
  const draft = join(dir, `draft-${randomUUID()}`)
  writeFileSync(draft, JSON.stringify(ticket), { mode: 0o600 })
  try {
    move(draft)
  } finally {
    rmSync(draft, { force: true })
  }
}

const ticketPath = (dir: string, number: number) => join(dir, String(number))

const numbersIn = (dir: string) =>
  readdirSync(dir)
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .sort((a, b) => a - b)

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (isCode(error, 'ENOENT')) return undefined
    throw error
  }
}

export const isCode = (error: unknown, ...codes: string[]) =>
  error instanceof Error && 'code' in error && codes.includes(String(error.code))
