/** A supervisor to be killed: launches one command in the walls named in its argument, says so, and then only waits. */
import type { Command } from '../../src/agent.ts'
import type { Walls } from '../../src/sandbox.ts'
import { sandboxes } from '../../src/sandboxes/index.ts'

const { name, command, walls } = JSON.parse(process.argv[2] ?? '') as { name: string; command: Command; walls: Walls }
const sandbox = sandboxes.find((candidate) => candidate.name === name)
if (!sandbox) throw new Error(`no sandbox ${name}`)
console.log('launching')
const { child } = await sandbox.launch(command, walls)
child.stderr.pipe(process.stderr)
child.stdout.pipe(process.stdout)
setInterval(() => {}, 60_000)
