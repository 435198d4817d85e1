import { expect, it } from 'vitest'
import { systemClock } from '../../base/clock.ts'
import { Watch } from './watch.ts'

it('what stands still when the run is lost is ended, because nobody would let it go on; what runs then, or begins later, is left alone', async () => {
  for (const isHeld of [true, false]) {
    const ended: string[] = []
    const watch = new Watch(systemClock, { totalMs: null, idleMs: null })
    const pauser = () => ({ freeze: async () => true, thaw: async () => undefined })
    watch.accompany(pauser(), process.pid, () => ended.push('a command'))
    const leave = watch.accompany(pauser(), process.pid, () => ended.push('one that has ended'))
    leave()
    if (isHeld) watch.hold()
    watch.stop({ kind: 'lease_lost' })
    await watch.untilConfirmed()
    expect(ended).toEqual(isHeld ? ['a command'] : [])
    let isFrozen = false
    const freeze = async () => {
      isFrozen = true
      return true
    }
    watch.accompany({ ...pauser(), freeze }, process.pid)
    await watch.untilConfirmed()
    expect(isFrozen).toBe(false)
  }
})
