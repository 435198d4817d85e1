import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { canOnly } from '../../agents/port.ts'
import { type SkillsWanted, skillsOfRun } from './run-skills.ts'

let home: string
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'pawl-run-skills-'))
  await put('skills/review/SKILL.md', '---\ndescription: Reviews.\n---\nWords.\n')
  await put('skills/count/SKILL.md', '---\ndescription: Counts.\nscript: run.sh\n---\n')
  await put('skills/count/run.sh', 'echo 3')
  await put('subagents/helper.md', '---\ndescription: Helps.\n---\nYou help.\n')
})
afterEach(() => rm(home, { recursive: true, force: true }))

async function put(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(home, path)), { recursive: true })
  await writeFile(join(home, path), text)
}
const able = { title: 'Able', can: canOnly('skills', 'subagents', 'mcp') }
const wanted = (names: { skills?: string[]; subagents?: string[] }, more: Partial<SkillsWanted> = {}): SkillsWanted => ({
  ...{ home, user: 'ann', adapter: able, enforced: true, nowMs: Date.now() },
  profile: { name: 'mine', skills: [], subagents: [], ...names },
  ...more,
})

describe('what a run is given', () => {
  test('is what its profile names, in one folder that is mounted read-only', async () => {
    const { given, mounts, scripts, notes } = await skillsOfRun(wanted({ skills: ['*'], subagents: ['helper', 'Plan'] }))
    expect(given).toEqual({
      skills: {
        own: true,
        folder: '/run/pawl',
        items: [{ name: 'review', description: 'Reviews.', path: '/run/pawl/skills/review' }],
      },
      subagents: {
        own: ['helper', 'Plan'],
        items: [{ name: 'helper', description: 'Helps.', prompt: 'You help.', tools: undefined, model: undefined }],
      },
    })
    expect(scripts).toEqual([{ name: 'count', description: 'Counts.', file: '/run/pawl/scripts/count/run.sh' }])
    expect(mounts).toEqual([{ source: expect.stringContaining(join(home, 'shown-skills')), path: '/run/pawl', mode: 'ro' }])
    expect(await readFile(join(mounts[0]!.source, 'skills/review/SKILL.md'), 'utf8')).toContain('Words.')
    expect((await readdir(mounts[0]!.source)).sort()).toEqual(['scripts', 'skills'])
    expect(notes).toEqual(['Profile "mine" names the subagent "Plan", and Pawl has none of that name.'])
  })

  test('is nothing where the profile names none, and then nothing is copied', async () => {
    const { given, mounts, scripts, notes } = await skillsOfRun(wanted({}))
    expect(given).toEqual({ skills: { own: false, folder: undefined, items: [] }, subagents: { own: [], items: [] } })
    expect([mounts, scripts, notes]).toEqual([[], [], []])
    await expect(stat(join(home, 'shown-skills'))).rejects.toThrow('ENOENT')
  })

  test('without walls lies where it is, and scripts are left out with one warning', async () => {
    const { given, mounts, scripts, notes } = await skillsOfRun(wanted({ skills: ['*'] }, { enforced: false }))
    expect(mounts).toEqual([])
    expect(scripts).toEqual([])
    expect(await readFile(join(given.skills!.items[0]!.path, 'SKILL.md'), 'utf8')).toContain('Words.')
    expect(notes).toEqual(['There are no walls here to run scripts in, so these skills are not offered: count.'])
  })

  test('is refused where the program cannot be given what the profile names, and nothing where it names all', async () => {
    const adapter = { title: 'Simple', can: canOnly() }
    await expect(skillsOfRun(wanted({ skills: ['review'] }, { adapter }))).rejects.toThrow(
      'Simple cannot be given skills, and profile "mine" names review: take them out of the profile, or use an agent that can.',
    )
    await expect(skillsOfRun(wanted({ subagents: ['helper'] }, { adapter }))).rejects.toThrow('Simple cannot be given subagents')
    const { given, scripts } = await skillsOfRun(wanted({ skills: ['*'], subagents: ['*'] }, { adapter }))
    expect([given.skills?.items, given.subagents?.items, scripts]).toEqual([[], [], []])
  })
})

describe('the folder that is shown', () => {
  const shownOf = async () => (await skillsOfRun(wanted({ skills: ['*'] }))).mounts[0]!.source

  test('is one for the same skills, however many runs begin at once, and another for changed ones, which leaves the first as it was', async () => {
    const [first, ...others] = await Promise.all(Array.from({ length: 20 }, shownOf))
    expect(new Set(others)).toEqual(new Set([first]))
    await put('skills/review/SKILL.md', '---\ndescription: Reviews.\n---\nOther words.\n')
    const changed = await shownOf()
    expect(changed).not.toBe(first)
    expect(await readFile(join(first!, 'skills/review/SKILL.md'), 'utf8')).toContain('\nWords.')
    expect(await readFile(join(changed, 'skills/review/SKILL.md'), 'utf8')).toContain('Other words.')
    expect(await readdir(join(home, 'shown-skills'))).toHaveLength(2)
  })

  test('can be read by another user whatever our umask and the modes of the skill are, and written by nobody', async () => {
    await chmod(join(home, 'skills/count/run.sh'), 0o600)
    await chmod(join(home, 'skills/review/SKILL.md'), 0o600)
    const before = process.umask(0o077)
    const shown = await shownOf().finally(() => process.umask(before))
    const modeOf = async (path: string) => ((await stat(join(shown, path))).mode & 0o777).toString(8)
    expect(await modeOf('skills/review/SKILL.md')).toBe('444')
    expect(await modeOf('scripts/count/run.sh')).toBe('555')
    expect([await modeOf('.'), await modeOf('skills'), await modeOf('skills/review')]).toEqual(['755', '755', '755'])
  })

  test('is removed when nothing has used it for a month', async () => {
    const old = dirname(await shownOf())
    const monthAgo = new Date(Date.now() - 31 * 24 * 3_600_000)
    await utimes(old, monthAgo, monthAgo)
    await put('skills/review/SKILL.md', '---\ndescription: Reviews.\n---\nOther words.\n')
    const now = dirname(await shownOf())
    expect(await readdir(join(home, 'shown-skills'))).toEqual([now.split('/').at(-1)])
  })
})

test('a program that waits serves a run only if it was given the same', async () => {
  const likeness = async (names: { skills?: string[]; subagents?: string[] }) => (await skillsOfRun(wanted(names))).likeness
  const before = await likeness({ skills: ['*'], subagents: ['*'] })
  expect(await likeness({ skills: ['*'], subagents: ['*'] })).toBe(before)
  expect(await likeness({ skills: ['review'], subagents: ['*'] })).not.toBe(before)
  await put('skills/review/notes.md', 'more')
  const changed = await likeness({ skills: ['*'], subagents: ['*'] })
  expect(changed).not.toBe(before)
  await put('subagents/helper.md', '---\ndescription: Helps.\n---\nYou help more.\n')
  expect(await likeness({ skills: ['*'], subagents: ['*'] })).not.toBe(changed)
})
