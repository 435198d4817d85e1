import { execFile } from 'node:child_process'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { agentCodePaths } from '../src/agents/index.ts'
import { commonCodePaths } from '../src/domain/workspace/code-paths.ts'
import { copyWorkspace } from '../src/engine/workspace/copy.ts'
import { findCode } from '../src/engine/workspace/find-code.ts'
import { type Benchmark, median, ms, timed } from './figure.ts'
import { inPlace } from './place.ts'

const run = promisify(execFile)
const files = 10_000
const rounds = 5
const paths = [...commonCodePaths, ...agentCodePaths]

export const benchmark: Benchmark = {
  about: `${files} files are copied for an agent, 100 of them change, and the changes are found and brought back, against one "cp -a"`,
  measure: ({ say }) =>
    inPlace(async ({ folder }) => {
      const original = join(folder, 'original')
      for (let n = 0; n < files; n++) {
        if (n % 20 === 0) await mkdir(join(original, `d${n % 200}/e${n / 20}`), { recursive: true })
        const below = n - (n % 20)
        await writeFile(join(original, `d${below % 200}/e${below / 20}/f${n}.ts`), `export const n = ${n}\n`.repeat(40))
      }
      const reflinks = await run('cp', ['--reflink=always', join(original, 'd0/e0/f0.ts'), join(folder, 'one')]).then(
        () => true,
        () => false,
      )
      say(reflinks ? 'the file system shares blocks between copies' : 'the file system copies every byte')
      const owner = { uid: process.getuid!(), gid: process.getgid!() }
      const plan = { original, folder: join(folder, 'copies'), task: 'task', owner, without: join(folder, 'home'), paths: [] }
      const sides = { making: [] as number[], bringing: [] as number[], finding: [] as number[], peer: [] as number[] }
      for (let round = 1; round <= rounds; round++) {
        let copy: Awaited<ReturnType<typeof copyWorkspace>> | undefined
        sides.making.push(
          await timed(async () => {
            copy = await copyWorkspace({ ...plan, fence: round, signal: new AbortController().signal })
          }),
        )
        if (!copy) throw new Error('there is no copy')
        for (let n = 0; n < files; n += 100) await writeFile(join(copy.path, `d${n % 200}/e${n / 20}/f${n}.ts`), `round ${round}`)
        const made = copy
        sides.bringing.push(await timed(() => made.bringBack()))
        await copy.remove()
        sides.finding.push(await timed(() => findCode(original, { paths, without: folder })))
        sides.peer.push(await timed(() => run('cp', ['-a', '--reflink=auto', original, join(folder, 'peer')])))
        await rm(join(folder, 'peer'), { recursive: true })
      }
      const peer = median(sides.peer)
      const whole = median(sides.making) + median(sides.bringing)
      return [
        {
          name: `copy ${files} files, compare, bring 100 back`,
          ours: ms(whole),
          peer: `${ms(peer)} (cp -a)`,
          ratio: whole / peer,
          target: reflinks ? '≤ 1 s' : 'told in the record of the run',
          isMet: reflinks ? whole <= 1_000 : undefined,
        },
        {
          name: `find what is code among ${files} files`,
          ours: ms(median(sides.finding)),
          peer: `${ms(peer)} (cp -a)`,
          ratio: median(sides.finding) / peer,
          target: '-',
        },
      ]
    }),
}
