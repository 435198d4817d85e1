/** A supervisor of its own process: launches one command in the walls named in its argument, says so, and waits: to be killed, or `once`. */

import { createBubblewrap } from '../../src/sandbox/bubblewrap/sandbox.ts'
import { sandboxes } from '../../src/sandbox/index.ts'
import type { Command, Walls } from '../../src/sandbox/port.ts'

interface Order {
  readonly name: string
  readonly command: Command
  readonly walls: Walls
  readonly once?: boolean
  /** What can be is got ready before. */
  readonly ahead?: boolean
  /** Freezes it for so long as soon as it says something. */
  readonly freezeMs?: number
}
const { name, command, walls, once, ahead, freezeMs } = JSON.parse(process.argv[2] ?? '') as Order
const sandbox = ahead
  ? createBubblewrap(walls.user && { user: walls.user })
  : sandboxes.find((candidate) => candidate.name === name)
if (!sandbox) throw new Error(`no sandbox ${name}`)
if (ahead) await sandbox.ahead?.start()
console.log('launching')
const { child, onLimit, freezer } = await sandbox.launch(command, walls)
onLimit?.((limit) => console.log(`over its limit of ${limit}`))
if (freezeMs !== undefined)
  child.stdout.once('data', async () => {
    console.log(`frozen: ${await freezer?.freeze()}, covered: ${freezer?.isCovered()}`)
    setTimeout(() => void freezer?.thaw(), freezeMs)
  })
child.stderr.pipe(process.stderr)
child.stdout.pipe(process.stdout)
if (once) {
  const { code } = await child.exited
  await child.stop({ graceMs: 0 })
  process.exitCode = code ?? 1
} else setInterval(() => {}, 60_000)
