import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { silentLog } from '../../src/base/log.ts'
import { layoutOf } from '../../src/store/embedded/layout.ts'
import { openEmbedded } from '../../src/store/embedded/server.ts'
import { makeHome } from '../engine/ready-database.ts'
import { type Machine, type Program, programs, startMachine } from './peer.ts'

type Home = Awaited<ReturnType<typeof makeHome>>

/** Two homes that share nothing but a database. Only one of them runs at a time, so that it is clear who does the work. */
const homes: Home[] = []
let server: Awaited<ReturnType<typeof openEmbedded>>
let database: string
beforeAll(async () => {
  for (const prefix of ['pawl-database-', 'pawl-first-', 'pawl-second-']) homes.push(await makeHome(prefix))
  server = await openEmbedded({ home: homes[0]!.path, log: silentLog })
  database = `postgres://pawl@localhost/pawl?host=${encodeURIComponent(layoutOf(homes[0]!.path).socketDir)}`
})
afterAll(async () => {
  await server.release()
  for (const home of homes) await home.remove()
})

async function on<T>(which: 'first' | 'second', work: (machine: Machine) => Promise<T>): Promise<T> {
  const machine = await startMachine({ home: homes[which === 'first' ? 1 : 2]!.path, database })
  try {
    return await work(machine)
  } finally {
    await machine.stop()
  }
}

/** Goes on with a session; answers what the program said, how it got its conversation, and all that the model was shown. */
async function goOn(machine: Machine, program: Program, task: { session: string; workspace: string; prompt: string }) {
  const ran = await machine.run({ agentConfig: machine.agent(program, 'echo-history'), ...task })
  const restored = ran.events.flatMap((event) => (event.type === 'session.restored' ? [event.data] : []))
  return { text: ran.task.result?.text, restored, shown: JSON.stringify(machine.models.requests.at(-1)?.body) }
}

describe.each(programs)('a session of the real $agent', (program) => {
  test('goes on on another machine, in the same place or elsewhere, and then on the first again', async () => {
    const { session, workspace, elsewhere } = await on('first', async (machine) => {
      const { task } = await machine.run({ agentConfig: machine.agent(program, 'tool'), workspace: await machine.workspace() })
      expect(task.result?.text).toContain('scripted-tool')
      return { session: task.session, workspace: task.workspace, elsewhere: await machine.workspace() }
    })
    await on('second', async (machine) => {
      expect(existsSync(join(machine.home, 'sessions', session))).toBe(false)
      const same = await goOn(machine, program, { session, workspace, prompt: 'second' })
      expect(same).toMatchObject({ text: '2 prompts: first message | second', restored: [{ why: 'missing' }] })
      // What the tool returned is remembered as well as what was said.
      expect(same.shown).toContain('scripted-tool')
      const other = await goOn(machine, program, { session, workspace: elsewhere, prompt: 'third' })
      expect(other).toMatchObject({ text: '3 prompts: first message | second | third', restored: [] })
    })
    await on('first', async (machine) => {
      // Its own files end where it left off.
      expect(readdirSync(join(machine.home, 'sessions'))).toContain(session)
      const again = await goOn(machine, program, { session, workspace, prompt: 'fourth' })
      expect(again).toMatchObject({
        text: '4 prompts: first message | second | third | fourth',
        restored: [{ why: 'cut' }],
      })
    })
  })

  test('goes on on another machine whose workspace lies elsewhere, and works there', async () => {
    const session = await on('first', async (machine) => {
      const { task } = await machine.run({ agentConfig: machine.agent(program, 'echo-history') })
      return task.session
    })
    await on('second', async (machine) => {
      const workspace = await machine.workspace()
      const agentConfig = machine.agent(program, 'shell')
      const { task, events } = await machine.run({ agentConfig, session, workspace, prompt: 'run `pwd | tee here.txt`' })
      expect(task.result?.text).toContain(workspace)
      expect(readdirSync(workspace)).toContain('here.txt')
      expect(events.some((event) => event.type === 'session.restored')).toBe(true)
      expect(JSON.stringify(machine.models.requests.at(-1)?.body)).toContain('1 prompts: first message')
    })
  })
})
