import { nextTag, recoverTwice, victims } from './cells.ts'
import { findViolations } from './check.ts'
import type { Arm } from './daemon.ts'
import { failpoints } from './failpoints.ts'
import { type CrashHome, pause } from './home.ts'
import { type Kind, play } from './scenario.ts'

/** What a seed does: one to three kills, each at a place or after a time, while tasks of all kinds are played. */
type Kill = { readonly at: Arm } | { readonly afterMs: number; readonly victim: Arm['victim'] }

const kinds: readonly Kind[] = ['plain', 'ask', 'hang', 'crash-once', 'fail-once', 'restore']
const reachable = Object.entries(failpoints).flatMap(([name, reach]) => ('tasks' in reach ? [name] : []))

export function planOf(seed: number): { kills: Kill[]; kinds: Kind[]; walled: boolean[] } {
  const random = createRandom(seed)
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!
  const kills = Array.from({ length: 1 + Math.floor(random() * 3) }, (): Kill => {
    const victim = pick(victims)
    if (random() < 0.3) return { afterMs: Math.floor(random() * 1_200), victim }
    return { at: { name: pick(reachable), victim, skip: Math.floor(random() * 3) } }
  })
  const chosen = kinds.filter(() => random() < 0.7)
  return { kills, kinds: chosen.length > 0 ? chosen : ['plain'], walled: kinds.map(() => random() < 0.3) }
}

export const describeSeed = (seed: number) =>
  `SEED=${seed} FP=${planOf(seed)
    .kills.map((kill) =>
      'at' in kill ? `${kill.at.name}=${kill.at.victim}:${kill.at.skip}` : `${kill.afterMs}ms=${kill.victim}`,
    )
    .join(',')} (again: node test/crash/run.ts --seed ${seed})`

export async function runSeed(seed: number, home: CrashHome): Promise<string[]> {
  const tag = nextTag()
  const plan = planOf(seed)
  let over = false
  const playing = Promise.all(
    plan.kinds.map((kind, index) => play(home, { kind, tag, walled: plan.walled[index] ?? false })),
  ).finally(() => {
    over = true
  })
  playing.catch(() => undefined)
  for (const kill of plan.kills) {
    if (over) break
    if ('at' in kill) {
      const before = home.fired.length
      await home.arm(kill.at)
      while (!over && home.fired.length === before) await pause(5)
    } else {
      await pause(kill.afterMs)
      if (kill.victim !== 'daemon') home.killDatabase()
      if (kill.victim !== 'database') home.killDaemon()
    }
    // A place once armed stays armed in a daemon that lives on; only a new one is free of it.
  }
  const told = await playing
  await home.settled()
  const wrong = await findViolations(home, told, tag)
  wrong.push(...(await recoverTwice(home)))
  return wrong.length === 0 ? [] : [describeSeed(seed), ...wrong]
}

/** mulberry32: small, and the same everywhere. */
function createRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}
