import { randomUUID } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createClient } from '../../src/client/index.ts'
import { serve } from '../e2e/pawl.ts'
import { makeHome, until } from '../engine/home.ts'

const fakeAgent = join(import.meta.dirname, '../fake-agent/fake-agent.js')
const program = join(import.meta.dirname, 'stdio-server.js')

/** Every process of this machine that was started with this word, walls included. */
const processesWith = (word: string) =>
  readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(word)
    } catch {
      return false
    }
  })

test.each(['guarded', 'unattended-open'])(
  'a daemon killed while a server of the user is called loses nothing and leaves no server behind: %s',
  async (profile) => {
    const home = await makeHome('pawl-servers-crash-')
    const workspace = await mkdtemp(join(tmpdir(), 'pawl-servers-crash-ws-'))
    const mark = `--mark-${randomUUID()}`
    await chmod(workspace, 0o777)
    const settings = {
      mcpServers: { notes: { command: process.execPath, args: [program, mark] } },
      agents: {
        fake: {
          ...{ adapter: 'custom', command: [fakeAgent], profile },
          options: { mcp: { path: '.agent/mcp.json' } },
        },
      },
    }
    await writeFile(join(home.path, 'config.yaml'), JSON.stringify(settings), { mode: 0o600 })
    let daemon = await serve(home.path)
    try {
      const client = createClient(daemon)
      const steps = [{ mcp: { server: 'notes', tool: 'hang' } }, { speak: 'the end' }]
      const { task } = await client.createTask({ prompt: JSON.stringify(steps), agent: 'fake', workspace })
      await until(() => existsSync(join(workspace, 'begun')), 60_000)
      const before = processesWith(mark)
      expect(before).not.toEqual([])

      daemon.process.kill('SIGKILL')
      await daemon.ended
      await rm(join(workspace, 'begun'))
      daemon = await serve(home.path)
      // It is called again, by the run that took the place of the lost one, and nobody of before is there to answer.
      await until(() => existsSync(join(workspace, 'begun')), 90_000)
      expect(processesWith(mark).filter((pid) => before.includes(pid))).toEqual([])
      await writeFile(join(workspace, 'gate'), '')
      const again = createClient(daemon)
      const done = await until(async () => {
        const seen = await again.getTask(task.id)
        return seen.state === 'completed' ? seen : undefined
      }, 90_000)
      expect(done.result?.text).toBe('notes: the gate is open\nthe end')
      expect(done.runs.map(({ outcome }) => outcome).sort()).toEqual(['lost', 'succeeded'])
      await until(() => processesWith(mark).length === 0, 30_000)
    } finally {
      daemon.process.kill('SIGTERM')
      await daemon.ended
      await home.remove()
      await rm(workspace, { recursive: true, force: true })
    }
  },
  240_000,
)
