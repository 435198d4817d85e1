import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { breakIn, breakInAgent, program, startDaemon } from './daemon.ts'
import { type Benchmark, interleave, median, ms, timed } from './figure.ts'
import { inPlace } from './place.ts'
import { createWalledSpawn } from './walled.ts'

const rounds = 30
/** Its first byte says when it was printed: nobody's reading or storing counts. */
const clock = { file: '/bin/date', args: ['+%s%N'] }
const printedMs = (text: string) => Number(text.trim()) / 1e6

export const benchmark: Benchmark = {
  about:
    'from accepted to the first byte of a trivial program, and a whole "pawl run", each beyond spawning it in the same walls',
  measure: ({ profileDir }) =>
    inPlace(async (place) => {
      const settings = { agents: { clock: { command: [clock.file, ...clock.args] }, quiet: breakInAgent } }
      const daemon = await startDaemon(place, { settings, profileDir })
      const walled = await createWalledSpawn(place)
      const viaHttp = async () => {
        const task = await daemon.createTask({ agent: 'clock' })
        let atMs = Number.NaN
        await daemon.follow(task.id, (event) => {
          if (event.type === 'agent.message') atMs = printedMs(event.data.text)
        })
        return atMs - Date.parse(task.createdAt)
      }
      const bare = async () => {
        const since = Date.now()
        return printedMs(await walled(clock)) - since
      }
      // Writable for the agent's user too, so that root's daemon need not copy it.
      const cwd = join(place.folder, 'project')
      await mkdir(cwd)
      await chmod(cwd, 0o777)
      const env = { PATH: process.env.PATH, HOME: process.env.HOME, PAWL_HOME: daemon.home }
      const whole = (args: string[]) =>
        timed(async () => {
          const child = spawn(process.execPath, args, { cwd, env, stdio: 'ignore' })
          const [code] = await once(child, 'exit')
          if (code !== 0) throw new Error(`"${args.join(' ')}" ended with ${code}.`)
        })
      await viaHttp()
      await bare()
      const fresh = await interleave(rounds, viaHttp, bare)
      await breakIn(daemon, 'quiet')
      const first = await interleave(rounds, viaHttp, bare)
      const run = await interleave(
        rounds,
        () => whole([program, 'run', '--agent', 'clock', 'go']),
        () => timed(() => walled(clock)),
      )
      const starts = await interleave(
        5,
        () => whole([program, '--version']),
        () => whole(['--eval', '0']),
      )
      const over = (sides: { ours: number[]; peer: number[] }) => median(sides.ours) - median(sides.peer)
      const row = (name: string, sides: { ours: number[]; peer: number[] }, mostMs: number) => ({
        name,
        ours: ms(median(sides.ours)),
        peer: `${ms(median(sides.peer))} walled spawn`,
        ratio: median(sides.ours) / median(sides.peer),
        target: `≤ ${mostMs} ms over (is ${ms(over(sides))})`,
        isMet: over(sides) <= mostMs,
      })
      return [
        row('accepted to first byte', first, 30),
        { ...row('the same in a daemon that has just started', fresh, 30), isMet: undefined },
        row('pawl run, whole', run, 150),
        {
          name: 'pawl --version',
          ours: ms(median(starts.ours)),
          peer: `${ms(median(starts.peer))} node -e 0`,
          ratio: median(starts.ours) / median(starts.peer),
          target: '',
        },
      ]
    }),
}
