import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Event } from '../../src/domain/event/event.ts'
import type { Growing } from '../../src/domain/event/live-text.ts'
import { isResting } from '../engine/home.ts'
import { geminiProgram, type Machine, ollamaLoop, opencodeProgram, programs, startMachine } from './peer.ts'

let machine: Machine
beforeAll(async () => {
  machine = await startMachine()
})
afterAll(() => machine.stop())

test.each([...programs, geminiProgram, opencodeProgram, ollamaLoop])(
  'what $agent is saying can be watched while it says it, and only the whole of it is stored',
  async (program) => {
    const workspace = await machine.workspace()
    const { runtime } = machine.daemon
    const agentConfig = machine.agent(program, 'slow-words')
    const { task } = await runtime.createTask({ prompt: 'how many?', agentConfig, workspace }, { by: 'test' })
    const grown: (Growing | undefined)[] = []
    const events: Event[] = []
    const over = new AbortController()
    const onGrowing = (growing: Growing | undefined) => grown.push(growing)
    for await (const batch of runtime.followEvents(task.id, { after: 0, signal: over.signal, onGrowing })) {
      events.push(...batch)
      if (batch.some(isResting)) over.abort()
    }
    const whole = events.flatMap((event) => (event.type === 'agent.message' ? [event.data.text] : []))
    expect(whole).toEqual([expect.stringContaining('seven apples')])
    const parts = grown.flatMap((growing) => (growing?.kind === 'message' ? [growing.text] : []))
    expect(parts.length).toBeGreaterThan(2)
    for (const part of parts) expect(whole[0]!.trim().startsWith(part.trim())).toBe(true)
    expect(parts.toSorted((a, b) => a.length - b.length)).toEqual(parts)
    expect(parts[0]!.length).toBeLessThan(whole[0]!.length / 2)
    // Nothing of it is left when the run is over.
    const late: unknown[] = []
    const again = new AbortController()
    for await (const _ of runtime.followEvents(task.id, { after: 0, signal: again.signal, onGrowing: (now) => late.push(now) }))
      again.abort()
    expect(late).toEqual([])
  },
)
