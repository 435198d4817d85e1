import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeHome } from '../../test/engine/ready-database.ts'
import { runCommand } from './terminal/testing.ts'

const settings = `profiles:
  careful: { rules: { ask: ["Bash(git push:*)"], deny: ["Write(**/.env)"] }, env: { REGION: hunter }, mounts: [/data] }
  open: { extends: unattended-open }
agents: { demo: { profile: careful } }
`
let home: Awaited<ReturnType<typeof makeHome>>
beforeAll(async () => {
  home = await makeHome('pawl-profile-')
  mkdirSync(join(home.path, 'project/.git'), { recursive: true })
  writeFileSync(join(home.path, 'config.yaml'), settings)
})
afterAll(() => home.remove())

const pawl = (...args: string[]) => runCommand(home.path, args, { cwd: join(home.path, 'project') })

test('pawl profile ls lists the built-in ones and yours, and which have no walls', () => {
  const { items } = JSON.parse(pawl('profile', 'ls', '--json').out)
  expect(items.map(({ name, base, source, walls }: Record<string, unknown>) => [name, base, source, walls])).toEqual([
    ['strict', 'strict', 'builtin', true],
    ['guarded', 'guarded', 'builtin', true],
    ['trusted-repo', 'trusted-repo', 'builtin', true],
    ['unattended-open', 'unattended-open', 'builtin', false],
    ['careful', 'guarded', 'settings', true],
    ['open', 'unattended-open', 'settings', false],
  ])
  expect(pawl('profile', 'ls').out).toMatch(/^open +unattended-open +settings +NONE/m)
})

test('pawl profile show prints every setting and no value of a variable', () => {
  const { out, code } = pawl('profile', 'show', 'careful')
  expect(code).toBe(0)
  expect(out).toMatch(/^rule +ask Bash\(git push:\*\)$/m)
  expect(out).toMatch(/^mount +\/data · ro$/m)
  expect(out).toMatch(/^set +REGION$/m)
  const shown = pawl('profile', 'show', 'careful', '--json').out
  expect(JSON.parse(shown)).toMatchObject({
    name: 'careful',
    digest: expect.stringMatching(/^sha256:/),
    profile: { env: { set: { REGION: '***' } } },
  })
  expect(out + shown).not.toContain('hunter')
})

test('pawl profile explain says which rule decides and why', () => {
  expect(pawl('profile', 'explain', '--agent', 'demo', 'Bash(ls && git push)').out).toBe(
    'ask  The rule ask Bash(git push:*) of profile "careful" is about it (because of "git push").\n',
  )
  expect(
    JSON.parse(
      pawl('profile', 'explain', '--json', '--profile', 'careful', '{"tool":"Edit","input":{"file_path":"a/.env"}}').out,
    ),
  ).toMatchObject({ verdict: 'deny', rule: 'Write(**/.env)' })
  expect(pawl('profile', 'explain', 'Bash(git push)').out).toMatch(/^allow {2}No rule of profile "guarded" is about it/)
})

test('a mistake of usage ends with 2 and says what is possible', () => {
  const mistakes: [string[], string][] = [
    [['show', 'gaurded'], 'did you mean "guarded"?'],
    [['explain', 'rm -rf /'], 'is no call; write Tool(argument)'],
    [['explain', '--profile', 'nope', 'Bash'], 'There is no profile "nope"'],
    [['explain', '--agent', 'nope', 'Bash'], 'There is no agent "nope"'],
    [['explain', '--agent', 'demo', '--profile', 'strict', 'Bash'], 'not both'],
    [['show'], 'needs a name'],
  ]
  for (const [args, said] of mistakes) {
    const { err, code } = pawl('profile', ...args)
    expect([args, code, err]).toEqual([args, 2, expect.stringContaining(said)])
  }
})

test('a profile without walls is said loudly, even if nothing else is', () => {
  expect(pawl('profile', 'show', 'open', '--quiet').err).toMatch(/^NO WALLS: under the profile open/)
  expect(pawl('profile', 'show', 'careful', '--quiet').err).toBe('')
})
