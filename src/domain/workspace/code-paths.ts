import { credentialPaths } from './credential-paths.ts'
import { pathRules } from './path-rules.ts'

/**
 * Configuration is code: what a program reads from a folder and then executes. An agent that may write such a file decides what runs
 * later, outside of its walls. Paths of agent programs are declared by their adapters; git's are told by the shape of its folders.
 */
export interface CodePath {
  /** A pattern as in path-rules.ts, wherever it lies below the workspace. */
  readonly path: string
  readonly treatment: Treatment
  /** What holds directly in somebody's home, where programs read more than in a project. */
  readonly inHome?: Treatment
  /** What it makes run, in one word. */
  readonly runs: string
  /** Cannot be made at the top of a workspace either: an empty folder stands there while a run lasts. Git does not see one, whatever it is called. */
  readonly reserve?: true
}

/**
 * `secret`: what lets somebody in somewhere, shown as nothing whoever is trusted. `hidden`: shown as nothing, because the agent program itself would obey it. `fixed`: readable but unchangeable, because other programs
 * obey it later. `text`: instructions, given or hidden as the profile says. `flagged`: the user's own work, told when it was changed.
 * What is hidden or fixed and appears all the same goes to quarantine. Of every other name that begins with a dot it is told that it is new.
 */
export type Treatment = 'secret' | 'hidden' | 'fixed' | 'text' | 'flagged'

/** Patterns by white space; what they make run comes first. */
const table = (treatment: Treatment, more: Partial<CodePath>, lines: readonly string[]): CodePath[] =>
  lines.flatMap((line) => {
    const [runs = '', ...paths] = line.trim().split(/\s+/)
    return paths.map((path) => ({ path, treatment, runs, ...more }))
  })

/** Runs by opening a folder, changing into it, or calling a common tool there. */
const fixed = [
  `tasks .vs .nova .lapce .helix *.code-workspace *.sublime-* .sublime-* .idx .codesandbox`,
  `containers .devcontainer* .gitpod* .replit replit.nix .stackblitzrc`,
  `scripts .exrc _exrc .vimrc _vimrc .gvimrc _gvimrc .vimrc.* .local.vimrc .vim .nvim* .lvimrc .kakrc .emacs .emacs.*
    .dir-locals*.el .ycm_extra_conf.py .gdbinit* .lldbinit* .rprofile .renviron .pdbrc* .pythonrc* .irbrc .pryrc .byebugrc .octaverc
    .juliarc.jl .ghci .iex.exs .erlang .guile .perldb sitecustomize.py usercustomize.py`,
  `hooks .pnpmfile*`,
  `registry .yarnrc* bunfig.toml .bunfig* .bundle/config`,
  `shell .direnvrc .envrc.* mise.toml mise.*.toml .mise* mise/config* .config/mise* .rtx* .asdfrc .autoenv*`,
  `compiler .cargo/config* .clangd .ccls`,
  `commands .hg/hgrc* .hg/sharedpath .bzr/branch/branch.conf .bzr/branch/location .jj/config.toml .jj/workspace-config.toml
    .jj/repo/config.toml .pijul/config _darcs/prefs/defaults`,
  `system autorun.inf desktop.ini *.scf *.lnk`,
]

/** Directly in a home the same is true of these; in a project somebody works on them, for other places. */
const fixedInHome = [
  `shell .bashrc .bash_* .profile .zshrc .zshenv .zprofile .zlogin .zlogout .zsh .oh-my-zsh .kshrc .mkshrc .cshrc .tcshrc .login
    .logout .inputrc .config/fish .config/nushell .xprofile .xinitrc .xsession* .pam_environment .config/autostart .config/systemd
    .config/environment.d .local/bin .local/share/applications library/launchagents .config/direnv`,
  `scripts .tmux.conf .config/tmux .screenrc .ipython .jupyter .psqlrc .sqliterc .mysqlrc .config/nvim .config/vim .config/helix
    .config/kak .config/emacs .config/zed .config/code/user`,
  `settings .gitconfig .config/git .gradle/init* .docker/cli-plugins`,
]

/** The user's own work, which runs one day. */
const flagged = [
  `scripts package.json composer.json pyproject.toml setup.py setup.cfg conftest.py build.rs tox.ini noxfile.py pytest.ini deno.json*
    pnpm-workspace.yaml .pnp.* *.pth gradlew* mvnw*`,
  `recipes makefile gnumakefile justfile .justfile taskfile.y*ml rakefile* gemfile* .bazelrc gruntfile.* gulpfile.* cmakelists.txt
    meson.build sconstruct pom.xml build.gradle* settings.gradle* init.gradle* gradle.properties build.sbt .sbtopts .jvmopts build.xml
    .mvn flake.nix shell.nix default.nix devbox.json .devbox* rust-toolchain* .tool-versions compile_flags.txt compile_commands.json
    .cargo/* vagrantfile dockerfile* containerfile* docker-compose* docker-bake* compose.y*ml tiltfile skaffold.y*ml procfile*
    brewfile podfile`,
  `plugins *.config.js *.config.cjs *.config.mjs *.config.ts *.config.cts *.config.mts .eslintrc* .prettierrc* .stylelintrc* .babelrc*
    .swcrc .mocharc* .nycrc* .rspec .perltidyrc .yarn/plugins .yarn/releases`,
  `pipelines .github/workflows .github/actions .gitlab-ci.yml .circleci jenkinsfile .travis.yml azure-pipelines*.y*ml .drone*
    .woodpecker* .buildkite buildkite.y*ml bitbucket-pipelines.yml appveyor.yml .cirrus* .semaphore .teamcity .forgejo .gitea`,
  `hooks .pre-commit-config.yaml lefthook* .lefthook* .lintstagedrc* .commitlintrc* .huskyrc* .czrc .overcommit.yml .githooks
    .simple-git-hooks*`,
  `registry uv.toml poetry.toml pip.conf`,
  `programs *.desktop .directory *.iml .run`,
  // Dangerous only with a configuration of git, which is held fast.
  `filters .gitattributes .lfsconfig`,
  `submodules .gitmodules`,
]

/** Those of editors, package managers, shells and build tools. Names of files that programs inside read are not reserved: they would stumble over a folder. */
export const commonCodePaths: readonly CodePath[] = [
  ...credentialPaths,
  ...table('fixed', { reserve: true }, ['tasks .vscode .idea .zed .fleet', 'containers .devcontainer', 'hooks .husky']),
  ...table('fixed', { reserve: true, inHome: 'secret' }, ['shell .envrc']),
  ...table('fixed', { inHome: 'secret' }, ['registry .npmrc .yarnrc.yml .bunfig.toml']),
  ...table('fixed', {}, fixed),
  ...table('flagged', { inHome: 'fixed' }, fixedInHome),
  ...table('flagged', {}, flagged),
]

export interface CodePathMatcher {
  /** `above` are the folded names of the folders above, `homeAt` says how many of them lead to the home that they lie in, if they do. */
  match(name: string, above: readonly string[], homeAt?: number): CodePath | undefined
}

/** Tells for a name whether it is such a path, and how it is treated there. */
export function codePathMatcher(paths: readonly CodePath[]): CodePathMatcher {
  const rules = pathRules(
    paths.map((path) => {
      const length = path.path.split('/').length
      const inHome = path.inHome === undefined ? undefined : { ...path, treatment: path.inHome }
      return [path.path, { path, inHome, length }]
    }),
  )
  return {
    match(name, above, homeAt) {
      const rule = rules.match(name, above)
      return rule?.inHome && above.length - (rule.length - 1) === homeAt ? rule.inHome : rule?.path
    },
  }
}
