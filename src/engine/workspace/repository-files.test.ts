import { execFileSync } from 'node:child_process'
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { claudeCode } from '../../agents/claude-code/agent.ts'
import { geminiCli } from '../../agents/gemini-cli/agent.ts'
import { opencode } from '../../agents/opencode/agent.ts'
import { readRepositoryFiles } from './repository-files.ts'
import { put } from './testing.ts'

let root: string
const at = (path: string) => join(root, path)
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'pawl-repository-'))
})
afterEach(() => rm(root, { recursive: true, force: true }))

const guarded = { name: 'guarded', instructions: true }
const list = (given: readonly (readonly string[])[]) => ({ isWanted: true, given })
const read = (more: Partial<Parameters<typeof readRepositoryFiles>[1]> = {}) =>
  readRepositoryFiles(root, {
    files: list([['A.md'], ['B.md', 'C.md']]),
    profile: guarded,
    isTrusted: false,
    ...more,
  })

describe('instruction files', () => {
  it('are read as they are, of each list the first that is there', async () => {
    await put(root, { 'A.md': 'First.\n', 'C.md': 'Third. Größe 👍🏽\n' })
    const { texts, note } = await read()
    expect(texts).toEqual([
      { path: 'A.md', text: 'First.\n', isCut: false },
      { path: 'C.md', text: 'Third. Größe 👍🏽\n', isCut: false },
    ])
    expect(note).toBe('Used from the repository: A.md, C.md.')
  })

  it('that are not there, are empty, or are folders, are nothing to speak of', async () => {
    await put(root, { 'A.md': '', 'B.md/x': 'x' })
    expect(await read()).toEqual({ texts: [], note: undefined })
  })

  it('are never read through a link, nor from a pipe, and the run says so', async () => {
    await put(root, { 'C.md': 'Third.' })
    await writeFile(`${root}.secret`, 'a secret of the machine')
    await symlink(`${root}.secret`, at('A.md'))
    execFileSync('mkfifo', [at('B.md')])
    const { texts, note } = await read().finally(() => rm(`${root}.secret`))
    expect(texts.map(({ text }) => text)).toEqual(['Third.'])
    expect(note).toBe('Used from the repository: C.md. Not used: A.md (a link), B.md (not a regular file).')
  })

  it('are not read through a folder that is a link', async () => {
    await put(root, { 'real/A.md': 'Elsewhere.' })
    await symlink(at('real'), at('link'))
    expect(await read({ files: list([['link/A.md']]) })).toEqual({ texts: [], note: undefined })
  })

  it('are cut at 32 KiB each and 64 KiB in all, between two characters, and the run says so', async () => {
    await put(root, { 'A.md': `x${'ä'.repeat(20_000)}`, 'B.md': 'b'.repeat(40_000), 'D.md': 'd' })
    const { texts, note } = await read({ files: list([['A.md'], ['B.md'], ['D.md']]) })
    expect(texts.map(({ text, isCut }) => [text.length, isCut])).toEqual([
      [1 + 16_383, true],
      [32_768, true],
    ])
    expect(texts[0]?.text).not.toContain('\ufffd')
    expect(note).toBe(
      'Used from the repository: A.md (its beginning), B.md (its beginning). Not used: D.md (the files before it have 65536 bytes).',
    )
  })

  it('show what a reader cannot see, and are refused if they are no text', async () => {
    await put(root, { 'A.md': 'Be\u202e kind.\u{e0041}\r\n', 'B.md': 'a\0b' })
    const { texts, note } = await read()
    expect(texts.map(({ text }) => text)).toEqual(['Be<U+202E> kind.<U+E0041>\n'])
    expect(note).toBe('Used from the repository: A.md. Not used: B.md (not text).')
  })

  it('do not grow beyond the bound by what is shown by its number', async () => {
    await put(root, { 'A.md': '\u202e'.repeat(10_000) })
    const { texts } = await read()
    expect(texts[0]).toMatchObject({ isCut: true, text: expect.stringMatching(/^<U\+202E>/) })
    expect(texts[0]?.text.length).toBe(32_768)
  })

  it('with the same text are handed over once', async () => {
    await put(root, { 'A.md': 'Same.', 'B.md': 'Same.' })
    const { texts, note } = await read()
    expect(texts.map(({ path }) => path)).toEqual(['A.md'])
    expect(note).toBe('Used from the repository: A.md, B.md (the same text).')
  })

  it('are not handed over where the profile or the agent says so', async () => {
    await put(root, { 'A.md': 'First.', 'GEMINI.md': 'Own.' })
    const files = { ...list([['A.md']]), own: ['GEMINI.md'] }
    expect(await read({ files, profile: { name: 'strict', instructions: false } })).toEqual({
      texts: [],
      note: 'Not used: GEMINI.md (profile strict gives no instruction files), A.md (profile strict gives no instruction files).',
    })
    expect(await read({ files: { ...files, isWanted: false } })).toEqual({
      texts: [],
      note: 'Used from the repository: GEMINI.md. Not used: A.md (repositoryInstructions is false).',
    })
  })
})

describe('what can run code', () => {
  const note = async (more: Parameters<typeof read>[0]) => (await read({ files: list([]), ...more })).note
  const hooks = { PreToolUse: [{ matcher: 'Bash', hooks: [{ type: 'command' }, { type: 'command' }] }], Stop: [{ hooks: [{}] }] }

  it('is counted by kind, or named', async () => {
    await put(root, {
      '.claude/skills/one/SKILL.md': 'x',
      '.claude/skills/two/SKILL.md': 'x',
      '.claude/skills/README.md': 'no skill',
      '.claude/agents/reviewer.md': 'x',
      '.claude/settings.json': JSON.stringify({ hooks }),
      '.mcp.json': '{}',
    })
    expect(await note({ features: claudeCode.repositoryFeatures })).toBe(
      'Not used, because it can run code: 2 skills, 1 agent, 3 hooks, .claude/settings.json, .mcp.json (docs/profiles.md says what to do instead).',
    )
  })

  it('is not looked for behind links, and folders that only cover a name are nothing', async () => {
    await put(root, { 'real/SKILL.md': 'x', '.mcp.json/x': 'x', '.claude/settings.json': '[[[' })
    await put(root, { '.claude/skills/x': 'x' })
    await symlink(at('real'), at('.claude/skills/linked'))
    expect(await note({ features: claudeCode.repositoryFeatures })).toBe(
      'Not used, because it can run code: .claude/settings.json (docs/profiles.md says what to do instead).',
    )
  })

  it('is known of each program by its own names', async () => {
    await put(root, {
      '.opencode/plugin/x.js': 'x',
      '.opencode/tools/y.ts': 'y',
      '.gemini/settings.json': '{}',
      'opencode.json': '{}',
    })
    expect(await note({ features: opencode.repositoryFeatures })).toContain('1 plugin, 1 tool, opencode.json')
    expect(await note({ features: geminiCli.repositoryFeatures })).toContain('.gemini/settings.json')
    // The program takes these where the profile trusts the repository.
    expect(await note({ features: geminiCli.repositoryFeatures, isTrusted: true })).toBeUndefined()
  })
})
