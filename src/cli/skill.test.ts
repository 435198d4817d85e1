import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeHome } from '../../test/engine/ready-database.ts'
import { runCommand } from './terminal/testing.ts'

let home: Awaited<ReturnType<typeof makeHome>>
beforeAll(async () => {
  home = await makeHome('pawl-skill-')
  const put = (file: string, text: string) => writeFileSync(join(home.path, file), text)
  for (const folder of ['skills/review', 'skills/broken', 'users/local/subagents', 'users/bob/skills/hers'])
    mkdirSync(join(home.path, folder), { recursive: true })
  put('skills/review/SKILL.md', '---\ndescription: Reviews.\n---\n')
  put('users/bob/skills/hers/SKILL.md', '---\ndescription: Of Bob.\n---\n')
  put('users/local/subagents/helper.md', '---\ndescription: Helps.\n---\nYou help.\n')
})
afterAll(() => home.remove())

const pawl = (...args: string[]) => runCommand(home.path, args, { cwd: home.path }).out

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
