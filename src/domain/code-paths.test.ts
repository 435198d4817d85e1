import { expect, it } from 'vitest'
import { agentCodePaths } from '../agents/index.ts'
import { codePathMatcher, commonCodePaths } from './code-paths.ts'

const match = codePathMatcher([...commonCodePaths, ...agentCodePaths])

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
])('%s in "%s" is %s', (name, parent, treatment) => expect(match(name, parent)?.treatment).toBe(treatment))

it('names every path once, so that nobody decides about it twice', () => {
  const paths = [...commonCodePaths, ...agentCodePaths].map(({ path }) => path.toLowerCase())
  expect(paths.length).toBe(new Set(paths).size)
})
