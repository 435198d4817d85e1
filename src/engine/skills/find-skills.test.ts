import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { findSkills, findSubagents } from './find-skills.ts'
import { readFolder } from './read-folder.ts'

let home: string
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'pawl-skills-'))
})
afterEach(() => rm(home, { recursive: true, force: true }))

async function put(path: string, text = ''): Promise<void> {
  await mkdir(dirname(join(home, path)), { recursive: true })
  await writeFile(join(home, path), text)
}
const page = (description: string, more = '') => `---\ndescription: ${description}\n${more}---\nWords.\n`
const views = async (user = 'ann') => (await findSkills({ home, user })).map(({ view }) => view)

describe('skills', () => {
  test('of everybody and of the user are found, the own ones win, and nobody sees those of another', async () => {
    await put('skills/review/SKILL.md', page('Of all.'))
    await put('skills/deploy/SKILL.md', page('"Two:\n  lines."'))
    await put('users/ann/skills/review/SKILL.md', page('Of Ann.'))
    await put('users/bob/skills/secret/SKILL.md', page('Of Bob.'))
    await put('skills/README.md', 'not a skill')
    await put('skills/.hidden/SKILL.md', page('Hidden.'))
    const rest = { kind: 'instructions', problem: null }
    expect(await views()).toEqual([
      { name: 'deploy', scope: 'global', description: 'Two: lines.', ...rest },
      { name: 'review', scope: 'user', description: 'Of Ann.', ...rest },
    ])
    expect((await views('../users/bob')).map(({ name, scope }) => [name, scope])).toEqual([
      ['deploy', 'global'],
      ['review', 'global'],
    ])
  })

  test('none are found where there is no folder for them', async () => {
    expect(await views()).toEqual([])
  })

  test('each bad one is listed with what is wrong, and the good one stays', async () => {
    await put('outside', 'secret')
    await put('skills/good/SKILL.md', page('Good.'))
    await put('skills/empty/notes.md')
    await put('skills/plain/SKILL.md', 'no front matter')
    await put('skills/mute/SKILL.md', '---\nname: mute\n---\n')
    await put('skills/yaml/SKILL.md', '---\ndescription: [\n---\n')
    // 40,000 keys keep the reader of YAML busy for half a minute.
    const keys = Array.from({ length: 40_000 }, (_, n) => `k${n}: 1`).join('\n')
    await put('skills/large/SKILL.md', `---\ndescription: Large.\n${keys}\n---\n`)
    await put('skills/out/SKILL.md', page('Leads out.'))
    await symlink(join(home, 'outside'), join(home, 'skills/out/data'))
    await put('skills/dangling/SKILL.md', page('Leads nowhere.'))
    await symlink('nothing', join(home, 'skills/dangling/data'))
    await put('skills/circle/SKILL.md', page('Leads round.'))
    await symlink('.', join(home, 'skills/circle/again'))
    await put('skills/pipe/SKILL.md', page('Waits.'))
    execFileSync('mkfifo', [join(home, 'skills/pipe/data')])
    await put('skills/tool/SKILL.md', page('Runs.', 'script: ../out/SKILL.md\n'))
    await put('skills/bad name/SKILL.md', page('Named badly.'))
    await symlink(join(home, 'outside'), join(home, 'skills/file'))
    const problems = Object.fromEntries((await views()).map(({ name, problem }) => [name, problem]))
    expect(problems).toEqual({
      'bad name': 'has a name with more than letters, digits, dash and underscore, or than 40 of them',
      circle: 'holds a link that leads in a circle, again',
      dangling: 'holds a link to nothing, data',
      empty: 'has no SKILL.md',
      file: 'cannot be read (.: ENOTDIR)',
      good: null,
      large: 'has front matter of more than 8192 characters',
      mute: 'has no description',
      out: 'holds a link that leads out of it, data',
      pipe: 'holds data, which is neither a file nor a folder',
      plain: 'begins with no front matter (name and description between two lines of ---)',
      tool: 'names a script that it does not hold, "../out/SKILL.md"',
      yaml: expect.stringMatching(/^has front matter that is no YAML: /),
    })
  })

  test('a script is known by the front matter, and links inside the folder become what they lead to', async () => {
    await put('skills/tool/SKILL.md', page('Runs.', 'script: bin/run.sh\n'))
    await put('skills/tool/bin/run.sh', 'echo hi')
    await symlink('bin/run.sh', join(home, 'skills/tool/same'))
    const [found] = await findSkills({ home, user: 'ann' })
    expect([found?.view.kind, found?.script]).toEqual(['script', 'bin/run.sh'])
    expect((await readFolder(join(home, 'skills/tool'))).map(({ path, content }) => [path, String(content).slice(0, 7)])).toEqual(
      [
        ['SKILL.md', '---\ndes'],
        ['bin/run.sh', 'echo hi'],
        ['same', 'echo hi'],
      ],
    )
  })

  test('a folder of too many files is too large', async () => {
    await Promise.all(Array.from({ length: 1_001 }, (_, index) => put(`skills/many/${index}`)))
    expect((await views())[0]?.problem).toBe('is too large: at most 1000 files with 32 MB together')
  })
})

test('subagents are files with a description, what they may use, and what they are told', async () => {
  await put('subagents/reviewer.md', '---\ndescription: Reviews.\ntools: Read, Grep\nmodel: small\n---\nYou review.\n')
  await put('users/ann/subagents/helper.md', '---\ndescription: Helps.\ntools: [Read]\n---\nYou help.\n')
  await put('subagents/silent.md', page('Silent.').replace('Words.\n', ''))
  await put('subagents/notes.txt', 'no subagent')
  await symlink('reviewer.md', join(home, 'subagents/link.md'))
  const found = await findSubagents({ home, user: 'ann' })
  expect(found.map(({ view, prompt, tools, model }) => [view.name, view.scope, view.problem, prompt, tools, model])).toEqual([
    ['helper', 'user', null, 'You help.', ['Read'], undefined],
    ['link', 'global', 'is no regular file', '', undefined, undefined],
    ['reviewer', 'global', null, 'You review.', ['Read', 'Grep'], 'small'],
    ['silent', 'global', 'has no text after its front matter; that is what it is told', '', undefined, undefined],
  ])
})
