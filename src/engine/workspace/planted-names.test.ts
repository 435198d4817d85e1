import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { agentCodePaths } from '../../agents/index.ts'
import { commonCodePaths } from '../../domain/workspace/code-paths.ts'
import { clearSpecialBits } from './special.ts'
import { guard, put } from './testing.ts'

let base: string
let root: string
const home = () => join(base, 'home')
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'pawl-planted-')))
  root = join(base, 'project')
  for (const folder of [home(), root]) mkdirSync(folder)
})
afterEach(() => rmSync(base, { recursive: true, force: true }))
const paths = [...commonCodePaths, ...agentCodePaths]

/** Each name once; a slash at the end stands for a folder with a file in it. */
const words = (text: string) => text.trim().split(/\s+/)
const quarantined = words(`
  .hg/hgrc .jj/repo/config.toml .bzr/branch/branch.conf _darcs/prefs/defaults .pijul/config
  .Rprofile .Renviron .vimrc .gvimrc _vimrc .exrc .vim/ .nvimrc .nvim.lua .nvim/ .lvimrc .emacs .emacs.d/ .dir-locals.el .dir-locals-2.el
  .helix/ my.sublime-project my.sublime-workspace my.code-workspace .kakrc .ycm_extra_conf.py .ghci .iex.exs .octaverc .erlang
  mise.toml mise.local.toml .mise.toml .mise.local.toml .mise/ .config/mise.toml mise/config.toml .asdfrc .rtx.toml .envrc .direnvrc
  .pythonrc .pdbrc .irbrc .pryrc .gdbinit .gdbinit-old .lldbinit sitecustomize.py usercustomize.py
  .yarnrc .yarnrc.yml .pnpmfile.cjs .npmrc .bunfig.toml bunfig.toml .bundle/config .cargo/config .cargo/config.toml .clangd .ccls
  .vscode/ .VSCode/ .idea/ .zed/ .fleet/ .vs/ .nova/ .lapce/ .devcontainer/ .devcontainer.json .gitpod.yml .replit replit.nix
  .stackblitzrc .idx/ .husky/ autorun.inf desktop.ini
  .claude/ .claude.local/ .codex/ .gemini/ .opencode/ .cursor/ .windsurf/ .cline/ .roo/ .roomodes .kilocode/ .kilocodemodes .factory/
  .junie/ .trae/ .amp/ .augment/ .continue/ .continuerc.json .aider.conf.yml .goose/ .qwen/ .kiro/ .crush/ .crush.json crush.json
  .copilot/ .agents/ .mcp.json mcp.json .amazonq/ .openhands/ .serena/ .warp/
  .ssh/ .aws/ .kube/ .netrc .pypirc .gnupg/ .docker/config.json .git-credentials`)
const flagged = words(`
  .hg/ .svn/ .jj/ .inputrc .bashrc .bash_profile .profile .zshrc .zshenv .config/fish/ .tmux.conf .screenrc .ipython/ .jupyter/ .psqlrc
  .sqliterc .mysqlrc .curlrc .wgetrc .gemrc .condarc .gradle/init.gradle init.gradle gradle.properties .mvn/ .m2/settings.xml .sbtopts
  .jvmopts rust-toolchain rust-toolchain.toml compile_flags.txt .tool-versions devbox.json .devbox/ flake.nix shell.nix default.nix
  site.pth .rspec .perltidyrc pip.conf uv.toml poetry.toml .eslintrc .eslintrc.json eslint.config.mjs .prettierrc prettier.config.js
  vite.config.ts webpack.config.js babel.config.cjs .babelrc .swcrc .mocharc.yml .nycrc .lintstagedrc .commitlintrc.json .huskyrc .czrc
  lefthook.yml lefthook-local.yml .pre-commit-config.yaml .overcommit.yml .travis.yml .github/workflows/ .gitlab-ci.yml .circleci/
  azure-pipelines.yml .drone.yml .woodpecker.yml .woodpecker/ .buildkite/ Vagrantfile Dockerfile Dockerfile.dev docker-compose.yml
  compose.yaml Tiltfile skaffold.yaml Procfile Brewfile .projectile .editorconfig .gitattributes .gitmodules .lfsconfig my.desktop
  .directory my.iml .run/ .env .clinerules .goosehints .cursorrules .unknown .something-new/ .aider.chat.history.md .geminiignore
  Makefile package.json .yarn/plugins/ Gemfile CMakeLists.txt`)

describe('what appears in a workspace while an agent works', () => {
  it.each(['', 'a/', 'a/b/c/d/e/f/g/'])('is moved or told, each name of the table, in "%s"', async (folder) => {
    expect(quarantined.length + flagged.length).toBeGreaterThan(200)
    const folders = [...quarantined, ...flagged].map((name, at) => ({ name, place: `${folder}${at}-x/${name}` }))
    await put(root, { [`${folder}kept.txt`]: 'a' })
    const guarded = await guard(home(), root, { paths })
    await put(root, Object.fromEntries(folders.map(({ place }) => [place.endsWith('/') ? `${place}x` : place, 'evil'])))
    const settled = await guarded.settle()
    const stays = folders.filter(({ place }) => existsSync(join(root, place.replace(/\/$/, ''))))
    expect(stays.filter(({ name }) => quarantined.includes(name)).map(({ name }) => name)).toEqual([])
    expect(flagged.filter((name) => !stays.some((one) => one.name === name))).toEqual([])
    const told = new Set(settled.flagged)
    const isTold = (path: string): boolean =>
      told.has(path) || (path.includes('/') && isTold(path.slice(0, path.lastIndexOf('/'))))
    const more = Number(/and (\d+) more/.exec(settled.flagged.join(' '))?.[1] ?? 0)
    expect(stays.filter(({ place }) => !isTold(place.replace(/\/$/, ''))).length).toBeLessThanOrEqual(more)
  })

  it('in a home folder what a shell reads is moved out', async () => {
    const before = process.env.HOME
    process.env.HOME = root
    try {
      const guarded = await guard(home(), root, { paths })
      await put(root, {
        '.bashrc': 'x',
        '.zshenv': 'x',
        '.config/fish/config.fish': 'x',
        '.gitconfig': 'x',
        'p/.bashrc': 'x',
        'p/.editorconfig': 'x',
      })
      const { quarantined: moved, flagged: told } = await guarded.settle()
      expect(moved.toSorted()).toEqual(['.bashrc', '.config/fish', '.gitconfig', '.zshenv'])
      expect(told.toSorted()).toEqual(['.config', 'p/.bashrc', 'p/.editorconfig'])
    } finally {
      process.env.HOME = before
    }
  })

  it('tells no old name with a dot, and a bounded number of new ones', async () => {
    await put(root, { '.cache/x': '1', '.old': '1', 'sub/.old': '1' })
    const guarded = await guard(home(), root, { paths })
    await put(root, {
      '.cache/y': '1',
      '.old': '2',
      ...Object.fromEntries(Array.from({ length: 150 }, (_, at) => [`n/.new${at}`, '1'])),
    })
    const { flagged: told, quarantined: moved } = await guarded.settle()
    expect(moved).toEqual([])
    expect(told).toHaveLength(101)
    expect(told.at(-1)).toContain('50 more')
    expect(told.join(' ')).not.toContain('old')
  })

  it('deeper than anybody looks it is moved as a whole, and what lay there before stays', async () => {
    const deep = (name: string) => `${Array.from({ length: 70 }, () => name).join('/')}`
    await put(root, { [`${deep('mine')}/a.txt`]: 'a' })
    const guarded = await guard(home(), root, { paths })
    await put(root, {
      [`${deep('d')}/.claude/settings.json`]: 'evil',
      [`${`${'l'.repeat(200)}/`.repeat(18)}.claude/settings.json`]: 'evil',
    }).catch(() => undefined)
    const settled = await guarded.settle()
    expect(settled.quarantined[0]).toMatch(/^(d\/){64}d$/)
    expect(settled.sentence).toContain('d/d/d')
    expect(execFileSync('find', [root, '-name', '.claude'], { encoding: 'utf8' })).toBe('')
    expect(existsSync(join(root, `${deep('mine')}/a.txt`))).toBe(true)
  })
})

describe('bits that give rights away', () => {
  const mode = (path: string) => statSync(join(root, path)).mode & 0o7777

  it('are taken from what an agent made or changed, and from nothing else', async () => {
    await put(root, { tool: 'mine', changed: 'x', 'shared/a': 'a', 'packages/node_modules/p/x': 'x' })
    chmodSync(join(root, 'tool'), 0o4755)
    chmodSync(join(root, 'shared'), 0o2775)
    // The clock of the file system is a little behind.
    await new Promise((done) => setTimeout(done, 30))
    const guarded = await guard(home(), root, { paths })
    await put(root, { evil: '#!', closed: 'x', 'dir/x': 'x', 'shared/sub/b': 'b', 'packages/node_modules/q/x': 'x' })
    chmodSync(join(root, 'evil'), 0o6755)
    chmodSync(join(root, 'closed'), 0o4000)
    chmodSync(join(root, 'changed'), 0o2744)
    chmodSync(join(root, 'dir'), 0o3777)
    chmodSync(join(root, 'packages/node_modules/q/x'), 0o4711)
    execFileSync('mkfifo', [join(root, 'pipe')])
    const settled = await guarded.settle()
    const cleared = ['changed', 'closed', 'dir', 'evil', 'packages/node_modules/q/x']
    for (const path of cleared) expect(mode(path) & 0o7000, path).toBe(0)
    expect([mode('evil'), mode('closed')]).toEqual([0o755, 0])
    expect([mode('tool'), mode('shared') & 0o7000, mode('shared/sub') & 0o7000]).toEqual([0o4755, 0o2000, 0o2000])
    expect(settled.flagged).toEqual(expect.arrayContaining([...cleared, 'pipe']))
    expect(settled.flagged).not.toContain('tool')
    expect(settled.notes.join(' ')).toMatch(/Set-user-ID.*evil.*Pipes.*pipe/)
  })

  it('are taken in a folder that its owner cannot list too, by a plain user as by root', async () => {
    const isRoot = process.getuid?.() === 0
    await put(root, { 'shut/evil': '#!' })
    if (isRoot) {
      execFileSync('chmod', ['755', base])
      execFileSync('chown', ['-R', '1234:1234', root])
    }
    chmodSync(join(root, 'shut/evil'), 0o4755)
    chmodSync(join(root, 'shut'), 0o311)
    if (isRoot) process.seteuid!(1234)
    try {
      const since = Date.now() - 60_000
      expect((await clearSpecialBits(root, { since, before: new Set() })).cleared).toEqual(['shut/evil'])
    } finally {
      if (isRoot) process.seteuid!(0)
    }
    expect(mode('shut/evil')).toBe(0o755)
  })
})
