import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { makeHome } from '../engine/ready-database.ts'
import { json, pawl } from './pawl.ts'

interface Agent {
  name: string
  health: { loggedIn: boolean | null }
}

let home: Awaited<ReturnType<typeof makeHome>>
let path: string
let bin: string
beforeAll(async () => {
  home = await makeHome()
  // Not in the home: no program there is asked for its version.
  bin = await mkdtemp(join(tmpdir(), 'pawl-bin-'))
  path = `${bin}:${process.env.PATH}`
  await writeFile(join(bin, 'claude'), '#!/bin/sh\necho "99.0.0 (Claude Code)"\n')
  await chmod(join(bin, 'claude'), 0o755)
  await writeFile(
    join(home.path, 'config.yaml'),
    [
      'agents:',
      '  work: { adapter: claude-code, auth: { env: [WORK_KEY] } }',
      '  fixed: { adapter: claude-code, auth: { env: [FIXED] }, env: { FIXED: "k" } }',
      `  team: { adapter: claude-code, auth: { file: ${join(home.path, 'team.key')} } }`,
      '',
    ].join('\n'),
  )
})
afterAll(async () => {
  await home.remove()
  await rm(bin, { recursive: true, force: true })
})

const ask = (args: string[], env: Record<string, string> = {}) => pawl(home.path, args, { env: { PATH: path, ...env } })
const logins = async (env: Record<string, string> = {}) => {
  const { items } = json<{ items: Agent[] }>(await ask(['agents', '--json'], env))
  return Object.fromEntries(items.map(({ name, health }) => [name, health.loggedIn]))
}

it('says of each agent whether its program is let in: by its own login, a variable, or nobody knows', async () => {
  expect(await logins()).toMatchObject({ claude: false, work: false, fixed: true, team: null, demo: null })
  expect(await logins({ WORK_KEY: 'k' })).toMatchObject({ claude: false, work: true })
  expect(await logins({ ANTHROPIC_API_KEY: 'k' })).toMatchObject({ claude: true, team: true })
  const shown = await ask(['agents'])
  expect(shown.stdout).toMatch(/^claude +ok +99\.0\.0 +2\.0\.0–\S+ +no /m)
  expect(shown.stdout).toMatch(/^fixed +\*? *ok +99\.0\.0 +2\.0\.0–\S+ +yes /m)

  expect(shown.stderr).toContain('claude: Claude Code 99.0.0 is newer than 2.1.')
  expect(shown.stdout).toMatch(/^codex +not installed +- +0\.63\.0–/m)
  expect(shown.stderr).toContain('codex: npm install -g @openai/codex')

  const one = await ask(['agents', 'claude'])
  expect(one.stdout).toMatch(/^can +resume: goes on with a conversation/m)
  expect(one.stdout).toMatch(/^obeys +\.claude, \.mcp\.json/m)
  expect(one.stdout).toMatch(/^conversation +\.claude\/projects\/\*\/ID\.jsonl/m)
  expect(await ask(['agents', 'clade'])).toMatchObject({ code: 1, stderr: expect.stringContaining('did you mean "claude"?') })

  const { rows } = json<{ rows: { name: string; level: string; fix?: string }[] }>(await ask(['doctor', '--json']))
  const row = (name: string) => rows.find((each) => each.name === `agent ${name}`)
  expect(row('claude')).toMatchObject({ level: 'warn', fix: expect.stringContaining('log in') })
  expect([row('fixed')?.level, row('team')?.level]).toEqual(['ok', 'ok'])

  await mkdir(join(home.path, '.claude'))
  const login = { claudeAiOauth: { accessToken: 'a', expiresAt: Date.now() + 3_600_000 } }
  await writeFile(join(home.path, '.claude/.credentials.json'), JSON.stringify(login))
  expect(await logins()).toMatchObject({ claude: true, work: true })
})
