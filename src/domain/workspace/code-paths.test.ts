import { expect, it } from 'vitest'
import { adapters, agentCodePaths } from '../../agents/index.ts'
import { otherCodePaths } from '../../agents/shared/other-code-paths.ts'
import { codePathMatcher, commonCodePaths } from './code-paths.ts'

const { match } = codePathMatcher([...commonCodePaths, ...agentCodePaths])

it.each([
  ['.vscode', '', 'fixed'],
  ['.VSCode', 'deep', 'fixed'],
  ['config.toml', '.cargo', 'fixed'],
  ['config.toml', 'src', undefined],
  ['workflows', '.github', 'flagged'],
  ['Makefile', '', 'flagged'],
  ['.claude', 'sub', 'hidden'],
  ['.codex', '', 'hidden'],
  ['AGENTS.md', '', 'text'],
  ['readme.md', '', undefined],
  ['__proto__', '', undefined],
])('%s in "%s" is %s', (name, parent, treatment) => expect(match(name, [parent])?.treatment).toBe(treatment))

it('names every path once, so that nobody decides about it twice', () => {
  const paths = [...commonCodePaths, ...agentCodePaths].map(({ path }) => path.toLowerCase())
  expect(paths.length).toBe(new Set(paths).size)
})

it('two programs that obey the same path say the same of it', () => {
  const all = [...commonCodePaths, ...adapters.flatMap(({ codePaths }) => codePaths ?? []), ...otherCodePaths]
  for (const path of all) expect(match(path.path.split('/').at(-1)!, path.path.split('/').slice(0, -1)), path.path).toEqual(path)
})
