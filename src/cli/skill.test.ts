import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'

const home = mkdtempSync(join(tmpdir(), 'pawl-skill-'))
for (const folder of ['skills/review', 'skills/broken', 'users/local/subagents', 'users/bob/skills/hers'])
  mkdirSync(join(home, folder), { recursive: true })
writeFileSync(join(home, 'skills/review/SKILL.md'), '---\ndescription: Reviews.\n---\n')
writeFileSync(join(home, 'users/bob/skills/hers/SKILL.md'), '---\ndescription: Of Bob.\n---\n')
writeFileSync(join(home, 'users/local/subagents/helper.md'), '---\ndescription: Helps.\n---\nYou help.\n')
afterAll(() => rmSync(home, { recursive: true }))

function pawl(...args: string[]): string {
  const { PATH, HOME } = process.env
  const options = { cwd: home, input: '', encoding: 'utf8', env: { PATH, HOME, PAWL_HOME: home } } as const
  return spawnSync(process.execPath, [join(import.meta.dirname, '../../bin/pawl'), ...args], options).stdout
}

test('pawl skill ls lists the skills, and says what is wrong with a bad one', () => {
  expect(pawl('skill', 'ls')).toMatch(
    /^SKILL.*\nbroken +global +instructions +NOT GIVEN: it has no SKILL\.md\nreview .* Reviews\.\s*$/,
  )
  expect(JSON.parse(pawl('skill', 'ls', '--json')).items).toHaveLength(2)
})

test('pawl subagent ls lists the subagents', () => {
  expect(JSON.parse(pawl('subagent', 'ls', '--json')).items).toEqual([
    { name: 'helper', scope: 'user', description: 'Helps.', problem: null },
  ])
})
