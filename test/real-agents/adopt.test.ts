import { execFile } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { pawl } from '../e2e/pawl.ts'
import { startModelServer } from '../model-server/server.ts'
import { installedAgents } from './install.ts'
import { type Program, programs } from './peer.ts'

const run = promisify(execFile)
const key = 'key-of-the-user-0123456789'

/** How a user speaks with the program itself, with settings of their own. */
const ownWays: Record<Program['agent'], { args: string[]; settings: (base: string) => [path: string, text: string] }> = {
  claude: {
    args: ['-p', 'said to the program itself'],
    settings: (base) => [
      '.claude/settings.json',
      JSON.stringify({ env: { ANTHROPIC_BASE_URL: base, CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' } }),
    ],
  },
  codex: {
    args: ['exec', '--skip-git-repo-check', 'said to the program itself'],
    settings: (base) => [
      '.codex/config.toml',
      [
        'model = "scripted-model"',
        'model_provider = "mine"',
        '[model_providers.mine]',
        'name = "Mine"',
        `base_url = "${base}"`,
        'env_key = "OPENAI_API_KEY"',
        'wire_api = "responses"',
      ].join('\n'),
    ],
  },
}

test.each(programs)('a conversation begun in $agent itself goes on in a session', async (program) => {
  const home = await mkdtemp(join(tmpdir(), 'pawl-adopt-'))
  const models = await startModelServer()
  onTestFinished(async () => {
    await pawl(home, ['stop'])
    await models.close()
    await rm(home, { recursive: true, force: true })
  })
  const folder = join(home, 'project')
  await mkdir(folder)
  await chmod(folder, 0o777)
  const { [program.agent]: file } = await installedAgents()
  const base = `${models.base('echo-history', program.agent)}${program.api}`
  const { args, settings } = ownWays[program.agent]
  const [path, text] = settings(base)
  await mkdir(join(home, path, '..'), { recursive: true })
  await writeFile(join(home, path), text)
  const spoken = run(file, args, { cwd: folder, env: { HOME: home, PATH: process.env.PATH, [program.keyName]: key } })
  spoken.child.stdin?.end()
  expect((await spoken).stdout).toContain('said to the program itself')
  const files = await readdir(join(home, program.files), { recursive: true })
  const vendorId = /([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.jsonl$/m.exec(files.join('\n'))?.[1] ?? ''

  // Of a model without a price the dearest counts, and one call of that may cost more than the budget.
  const prices = { [program.model]: { input: 1, output: 2 } }
  const entry = { adapter: program.adapter, model: program.model, command: file, baseUrl: base }
  await writeFile(join(home, 'config.yaml'), JSON.stringify({ agents: { [program.agent]: entry }, prices }))
  const ask = (...words: string[]) => pawl(home, words, { cwd: folder, env: { [program.keyName]: key } })
  const adopted = await ask('sessions', 'adopt', vendorId)
  expect([adopted.code, adopted.stderr]).toEqual([0, expect.stringContaining('pawl run --session s_')])
  const ended = await ask('run', '--session', adopted.stdout.trim(), 'and to Pawl')
  expect(ended.stderr).toContain(`goes on with session ${vendorId} of the agent program`)
  expect(ended.stdout).toBe('2 prompts: said to the program itself | and to Pawl\n')
})
