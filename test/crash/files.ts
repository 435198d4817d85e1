import { createHash } from 'node:crypto'
import type { Client } from '../../src/client/index.ts'
import { PawlError } from '../../src/domain/error.ts'
import type { Arm } from './daemon.ts'
import type { CrashHome } from './home.ts'
import { type Acknowledged, newTask, untilRest } from './scenario.ts'

/** A small one, which lies in the database, and one that is large enough for a file. */
const contents = (tag: string) =>
  [50, 1_200_000].map((size) => {
    const seed = createHash('sha512').update(tag).digest()
    return { name: `${size}.bin`, content: Uint8Array.from(Buffer.alloc(size, seed)) }
  })

/** Hands files in and has an agent leave them again while everything dies: what was confirmed is there, byte for byte. */
export async function playFiles(home: CrashHome, arm: Arm, tag: string): Promise<Acknowledged[]> {
  const isSweep = arm.name.startsWith('files.sweep')
  if (!isSweep) await home.arm(arm)
  const made = await leaveFiles(home, tag)
  await assertThere(home, made, tag)
  if (isSweep) {
    const other = await leaveFiles(home, `${tag}-gone`)
    await home.arm(arm)
    await home
      .ask((client) => client.removeTask(other.id))
      .catch((error: unknown) => {
        if (!(error instanceof PawlError) || error.code !== 'not_found') throw error
      })
    await home.ask((client) => client.health())
    await assertThere(home, made, tag)
  }
  return [made]
}

async function leaveFiles(home: CrashHome, tag: string): Promise<Acknowledged> {
  const attachments: string[] = []
  for (const file of contents(tag)) attachments.push((await home.ask((client: Client) => client.addUpload(file))).id)
  const body = { ...newTask({ kind: 'files', tag }), attachments }
  const key = `${tag}.files`
  const { task } = await home.ask((client) => client.createTask(body, { idempotencyKey: key }))
  const made: Acknowledged = { id: task.id, key, body, kind: 'files', ends: ['completed'], answers: [], lost: [] }
  await untilRest(home, made, async () => false)
  return made
}

async function assertThere(home: CrashHome, { id }: Acknowledged, tag: string): Promise<void> {
  const left = await home.ask((client) => client.listArtifacts(id))
  for (const { name, content } of contents(tag)) {
    const found = left.find((one) => one.name === name)
    const bytes = found && (await home.ask((client) => client.readArtifact(id, found.id)))
    if (!bytes || !Buffer.from(bytes).equals(content)) throw new Error(`C1: the file ${name} of ${id} is not what was left`)
  }
}
