import { readFileSync } from 'node:fs'
import { pause } from './home.ts'

export async function until(what: string, withinMs: number, isSo: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + withinMs
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(`not within ${withinMs / 1000} s: ${what}`)
    await pause(10)
  }
}

/** Seconds since the boot, as the marks of the agents have them. */
export const uptime = () => Number(readFileSync('/proc/uptime', 'latin1').split(' ')[0])
