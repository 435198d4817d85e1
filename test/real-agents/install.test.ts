import { execFile } from 'node:child_process'
import { chown, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hostPath, inPlace } from '../../src/domain/base/path.ts'
import { createBubblewrap } from '../../src/sandbox/bubblewrap/sandbox.ts'
import { type InstalledAgents, installedAgents } from './install.ts'
import manifest from './package.json' with { type: 'json' }

const versions = {
  claude: `${manifest.dependencies['@anthropic-ai/claude-code']} (Claude Code)\n`,
  codex: `codex-cli ${manifest.dependencies['@openai/codex']}\n`,
}

describe('the real agent programs', () => {
  let agents: InstalledAgents
  let base: string

  beforeAll(async () => {
    base = await mkdtemp(join(tmpdir(), 'pawl-real-agents-'))
    agents = await installedAgents()
  })
  afterAll(() => rm(base, { recursive: true, force: true }))

  const version = async (file: string, env: Record<string, string> = {}) =>
    (await promisify(execFile)(file, ['--version'], { env: { HOME: base, PATH: process.env.PATH, ...env } })).stdout

  it('are the pinned versions', async () => {
    expect({
      claude: await version(agents.claude),
      codex: await version(agents.codex),
      codexLauncher: await version(agents.codexLauncher),
    }).toEqual({ claude: versions.claude, codex: versions.codex, codexLauncher: versions.codex })
  })

  it('are found by the names that users type', async () => {
    const env = { PATH: `${agents.searchPath}:${process.env.PATH}` }
    expect([await version('claude', env), await version('codex', env)]).toEqual([versions.claude, versions.codex])
  })

  it('run behind walls, where the agent is another user than the one who installed them', async () => {
    const bubblewrap = createBubblewrap()
    const user = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : undefined
    const [workspace, home] = [join(base, 'project'), join(base, 'home')]
    for (const path of [workspace, home]) {
      await mkdir(path)
      if (user) await chown(path, user.uid, user.gid)
    }
    const said = async (file: string) => {
      const { child } = await bubblewrap.launch(
        { file, args: ['--version'], env: {} },
        {
          unit: bubblewrap.killUnit(`pawl-real-agents-${process.pid}`, 1),
          workspace: inPlace(workspace),
          home: hostPath(home),
          hidden: [],
          user,
          network: 'none',
          door: false,
          limits: { processes: 256, openFiles: 1024 },
        },
      )
      child.stderr.resume()
      const out = await text(child.stdout)
      await child.stop({ graceMs: 0 })
      return out
    }
    expect([await said(agents.claude), await said(agents.codex), await said(agents.codexLauncher)]).toEqual([
      versions.claude,
      versions.codex,
      versions.codex,
    ])
  })

  it('are pinned exactly, by content and from whichever registry npm is set to', async () => {
    const lock = JSON.parse(await readFile(join(import.meta.dirname, 'package-lock.json'), 'utf8')) as {
      packages: Record<string, { version: string; integrity?: string; resolved?: string }>
    }
    const { '': root, ...packages } = lock.packages
    expect(root).toMatchObject({ dependencies: manifest.dependencies })
    for (const [name, version] of Object.entries(manifest.dependencies)) {
      expect(packages[`node_modules/${name}`]?.version).toBe(version)
    }
    expect(Object.entries(packages).filter(([, entry]) => !entry.integrity || entry.resolved)).toEqual([])
  })
})
