import { describe, expect, it } from 'vitest'
import { credentialPaths, looksLikePawlHome } from './credential-paths.ts'
import { foldName, pathRules } from './path-rules.ts'

const patterns = [
  '.ssh',
  '.aid*',
  '*.sublime-*',
  '.config/gh',
  '.aider*',
  '*.kdbx',
  '*credentials*',
  '.local/share/*/auth.json',
  'a*b*c',
  '.cargo/config*',
]
const rules = pathRules(patterns.map((pattern) => [pattern, pattern]))
const match = (path: string) => {
  const names = path.split('/')
  return rules.match(names.at(-1)!, names.slice(0, -1).map(foldName))
}

describe('patterns for paths', () => {
  it.each([
    ['.ssh', '.ssh'],
    ['deep/er/.SSH', '.ssh'],
    ['.ssh. ', '.ssh'],
    ['.s\u017fh', '.ssh'],
    ['.ss\u200ch', '.ssh'],
    ['.config/gh', '.config/gh'],
    ['gh', undefined],
    ['other/gh', undefined],
    ['.aider', '.aider*'],
    ['.aider.conf.yml', '.aider*'],
    ['my.sublime-project', '*.sublime-*'],
    ['.aid-kit', '.aid*'],
    ['Team.KDBX', '*.kdbx'],
    ['my-credentials.txt', '*credentials*'],
    ['.local/share/opencode/auth.json', '.local/share/*/auth.json'],
    ['share/opencode/auth.json', undefined],
    ['abc', 'a*b*c'],
    ['axxbyyc', 'a*b*c'],
    ['ac', undefined],
    ['acb', undefined],
    ['.cargo/config.toml', '.cargo/config*'],
    ['__proto__', undefined],
    ['constructor', undefined],
  ])('%s falls under %s', (path, pattern) => expect(match(path)).toBe(pattern))

  it('takes a name that was made to be slow like any other', () => {
    const slow = pathRules([['*a*a*a*a*a*a*a*a*a*b', true]])
    const name = 'a'.repeat(255)
    const since = performance.now()
    for (let i = 0; i < 2_000; i++) slow.match(name, [])
    expect(performance.now() - since).toBeLessThan(1_000)
  })

  it('are plain: small letters, no empty part, each named once', () => {
    const all = credentialPaths.map(({ path }) => path)
    expect(all.filter((pattern) => pattern.split('/').some((part) => part === '' || part === '..'))).toEqual([])
    expect(new Set(all.map((pattern) => pattern.toLowerCase())).size).toBe(all.length)
  })
})

it.each([
  [['token', 'run.json'], true],
  [['token', 'postgres', 'a'], true],
  [['postgres', 'sessions', 'runs', 'workspaces'], true],
  [['token', 'sessions', 'bot.py'], false],
  [['runs', 'workspaces', 'model.py'], false],
  [['postgres', 'src'], false],
  [['run.json'], false],
])('a folder with %j is a home of Pawl: %s', (names, is) => expect(looksLikePawlHome((name) => names.includes(name))).toBe(is))

it('a name of 400,000 dots and blanks is folded at once', () => {
  const startedAt = performance.now()
  expect(foldName(`${'. '.repeat(200_000)}x. .`)).toBe(`${'. '.repeat(200_000)}x`)
  expect(performance.now() - startedAt).toBeLessThan(500)
})
