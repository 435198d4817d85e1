import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Client } from 'pg'
import { onTestFinished } from 'vitest'
import { databasePattern } from '../../../test/engine/ready-database.ts'
import { silentLog } from '../../base/log.ts'
import type { Connection } from './holder.ts'
import { commandOf } from './process-mark.ts'
import { openEmbedded, stopEmbedded } from './server.ts'

type OnEnd = (end: () => Promise<void>) => void

/** A home for one test, or until what `onEnd` is given; then its server is stopped whatever happened, and the folder goes. */
export function freshHome(onEnd: OnEnd = onTestFinished): string {
  const home = mkdtempSync(join(tmpdir(), 'pawl-embedded-'))
  onEnd(async () => {
    for (const dir of homesUnder(home)) await stopEmbedded(dir)
    rmSync(home, { recursive: true, force: true, maxRetries: 5 })
  })
  return home
}

/** A home whose database exists already, as a copy: creating one anew costs each test the better part of a second. */
export async function usedHome(onEnd?: OnEnd): Promise<string> {
  const made = await databasePattern('bare')
  const home = freshHome(onEnd)
  cpSync(made, join(home, 'postgres', 'data'), { recursive: true })
  return home
}

/** A server for all tests of a file; answers how to connect to it and what ends it. */
export async function serverOfFile(): Promise<{ connection: Connection; end(): Promise<void> }> {
  const ends: (() => Promise<void>)[] = []
  const home = await usedHome((end) => ends.push(end))
  const { connection, release } = await openEmbedded({ home, log: silentLog })
  return {
    connection,
    async end() {
      await release()
      for (const end of ends) await end()
    },
  }
}

export const isAlive = (pid: number) => commandOf(pid) !== undefined

export async function connect(connection: Connection): Promise<Client> {
  const client = new Client({ ...connection, application_name: 'pawl test' })
  // Tests cut connections on purpose; what they expect of it they assert on the queries.
  client.on('error', () => undefined)
  await client.connect()
  return client
}

export interface Opener {
  readonly process: ChildProcess
  readonly pid: number
  readonly how: string
  leave(): Promise<void>
}

/** Another process that has the server open until `leave`; `prefix` is put in front of its command. */
export async function openInChild(home: string, prefix: readonly string[] = []): Promise<Opener> {
  const script = `
    import { openEmbedded } from ${JSON.stringify(join(import.meta.dirname, 'server.ts'))}
    import { silentLog } from ${JSON.stringify(join(import.meta.dirname, '../../base/log.ts'))}
    const { pid, how, release } = await openEmbedded({ home: ${JSON.stringify(home)}, log: silentLog })
    console.log(JSON.stringify({ pid, how }))
    process.stdin.resume().on('end', release)`
  const [program = '', ...args] = [...prefix, process.execPath, '--input-type=module', '-e', script]
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'], cwd: import.meta.dirname })
  const exited = once(child, 'exit')
  onTestFinished(() => void child.kill('SIGKILL'))
  for await (const line of createInterface(child.stdout)) {
    const { pid, how } = JSON.parse(line) as { pid: number; how: string }
    return {
      process: child,
      pid,
      how,
      async leave() {
        child.stdin.end()
        const [code] = await exited
        if (code !== 0) throw new Error(`The opener ended with ${code}.`)
      },
    }
  }
  throw new Error('The opener ended before it had the server.')
}

function homesUnder(dir: string): string[] {
  if (existsSync(join(dir, 'postgres'))) return [dir]
  return readdirSync(dir, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .flatMap((entry) => homesUnder(join(dir, entry.name)))
}
