import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { rolldown } from 'rolldown'

const root = resolve(import.meta.dirname, '../..')
let made: Promise<string> | undefined

/** The daemon of the crash tests as one file, as Pawl is shipped: hundreds of starts read it in a third of the time that the sources take. */
export function daemonFile(): Promise<string> {
  made ??= (async () => {
    const cache = join(root, 'node_modules/.cache/pawl-test')
    mkdirSync(cache, { recursive: true })
    const dir = mkdtempSync(join(cache, 'daemon-'))
    process.once('exit', () => rmSync(dir, { recursive: true, force: true }))
    const bundle = await rolldown({
      cwd: root,
      input: { daemon: 'test/crash/daemon.ts' },
      platform: 'node',
      external: /^[^./]/,
    })
    await bundle.write({ dir: join(dir, 'crash'), format: 'esm', sourcemap: false })
    await bundle.close()
    // What is read or started, and not imported, is looked for where it lies beside the sources.
    symlinkSync(join(root, 'test/crash/agent.sh'), join(dir, 'crash/agent.sh'))
    symlinkSync(join(root, 'test/fake-agent'), join(dir, 'fake-agent'))
    symlinkSync(join(root, 'src/agents'), join(dir, 'agents'))
    return join(dir, 'crash/daemon.js')
  })()
  return made
}
