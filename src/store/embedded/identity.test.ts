import { mkdtempSync, readlinkSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { silentLog } from '../../base/log.ts'
import { readBinaries } from './binaries.ts'
import { chooseIdentity } from './identity.ts'
import { createLayout } from './layout.ts'
import { openEmbedded } from './server.ts'
import { reach } from './start.ts'
import { connect, freshHome, openInChild } from './testing.ts'

const isRoot = process.getuid?.() === 0
const userSpace = (pid: number | 'self') => readlinkSync(`/proc/${pid}/ns/user`)

/** The bundled server on a machine that has only these programs. */
function machineWith(programs: string[], libDir: string) {
  const bin = mkdtempSync(join(tmpdir(), 'pawl-bin-'))
  onTestFinished(() => rmSync(bin, { recursive: true }))
  for (const program of programs) symlinkSync(`/usr/bin/${program}`, join(bin, program))
  const binaries = readBinaries({ libDir })
  return { ...binaries, env: { ...binaries.env, PATH: bin } }
}

describe.runIf(isRoot)('as root', () => {
  test('the server runs in a user namespace, under a directory only root may enter, and its files stay ours', async () => {
    const home = freshHome()
    expect(statSync(home)).toMatchObject({ uid: 0, mode: 0o040700 })
    const server = await openEmbedded({ home, log: silentLog })
    expect(userSpace(server.pid)).not.toBe(userSpace('self'))
    expect(statSync(join(home, 'postgres/data/PG_VERSION')).uid).toBe(0)
    await server.release()
  })

  test('without user namespaces it runs as a system uid, there too, and moves back when they are allowed again', async () => {
    const home = freshHome()
    const layout = createLayout(home)
    const { holder, pid } = await reach(layout, silentLog, machineWith(['setpriv', 'sh'], layout.libDir))
    const owner = statSync(layout.dataDir).uid
    expect({ server: statSync(`/proc/${pid}`).uid, isRoot: owner === 0 }).toEqual({ server: owner, isRoot: false })

    const server = await openEmbedded({ home, log: silentLog })
    expect(server.how).toBe('adopted')
    const client = await connect(server.connection)
    await client.query('create table kept (id int)')
    await client.end()
    await holder.close()
    await server.release()

    const again = await openEmbedded({ home, log: silentLog })
    expect(statSync(layout.dataDir).uid).toBe(0)
    const reader = await connect(again.connection)
    expect((await reader.query('select * from kept')).rows).toEqual([])
    await reader.end()
    await again.release()
  })

  test('where nothing works, one sentence says what to do', async () => {
    const binaries = { ...machineWith([], freshHome()), postgres: '/nowhere/postgres' }
    await expect(chooseIdentity(binaries, freshHome())).rejects.toThrow(/as root.*Run Pawl as an ordinary user.*--database-url/s)
  })
})

describe.runIf(process.platform === 'linux')('as an ordinary user', () => {
  const uidWithName = 1

  test('the server runs as that user with no tricks', async () => {
    const opener = await openInChild(freshHome(), [
      'unshare',
      '--user',
      `--map-user=${uidWithName}`,
      `--map-group=${uidWithName}`,
    ])
    expect(userSpace(opener.pid)).toBe(userSpace(opener.process.pid!))
    await opener.leave()
  })

  test('a uid without a name gets one in a namespace, since initdb insists on it', async () => {
    const opener = await openInChild(freshHome(), ['unshare', '--user', '--map-user=54321', '--map-group=54321'])
    expect(userSpace(opener.pid)).not.toBe(userSpace(opener.process.pid!))
    await opener.leave()
  })
})
