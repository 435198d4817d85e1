/**
 * Configuration is code: what a program reads from a folder and then executes. An agent that may write such a file decides what runs
 * later, outside of its walls. Paths of agent programs are declared by their adapters; git's are told by the shape of its folders.
 */
export interface CodePath {
  /** A name, or two joined by a slash, wherever it lies below the workspace. Letter case does not count. */
  readonly path: string
  readonly treatment: Treatment
  /** What it makes run, in one word. */
  readonly runs: string
  /** Cannot be made at the top of a workspace either: an empty folder stands there while a run lasts. Git does not see one, whatever it is called. */
  readonly reserve?: true
}

/**
 * `hidden`: shown as nothing, because the agent program itself would obey it. `fixed`: readable but unchangeable, because other programs
 * obey it later. `text`: instructions, given or hidden as the profile says. `flagged`: the user's own work, told when it was changed.
 * What is hidden or fixed and appears all the same goes to quarantine.
 */
export type Treatment = 'hidden' | 'fixed' | 'text' | 'flagged'

const fixed = (runs: string, ...paths: string[]): CodePath[] => paths.map((path) => ({ path, treatment: 'fixed', runs }))
const reserved = (runs: string, ...paths: string[]): CodePath[] =>
  paths.map((path) => ({ path, treatment: 'fixed', runs, reserve: true }))
const flagged = (runs: string, ...paths: string[]): CodePath[] => paths.map((path) => ({ path, treatment: 'flagged', runs }))

/** Those of editors, package managers, shells and build tools. Names of files that programs inside read are not reserved: they would stumble over a folder. */
export const commonCodePaths: readonly CodePath[] = [
  ...reserved('tasks', '.vscode', '.idea', '.zed', '.fleet'),
  ...reserved('containers', '.devcontainer'),
  ...fixed('containers', '.devcontainer.json'),
  ...fixed('scripts', '.nvim.lua', '.nvimrc', '.exrc', '.lvimrc', '.dir-locals.el', '.gdbinit', '.lldbinit'),
  ...reserved('hooks', '.husky'),
  ...fixed('registry', '.npmrc', '.yarnrc', '.yarnrc.yml', 'bunfig.toml'),
  ...fixed('hooks', '.pnpmfile.cjs', '.pnpmfile.mjs'),
  ...reserved('shell', '.envrc'),
  ...fixed('shell', '.direnvrc', 'mise.toml', '.mise.toml', '.mise'),
  ...fixed('compiler', '.cargo/config', '.cargo/config.toml'),

  ...flagged('scripts', 'package.json', 'composer.json', 'pyproject.toml', 'setup.py', 'conftest.py', 'build.rs'),
  ...flagged(
    'recipes',
    'makefile',
    'gnumakefile',
    'justfile',
    '.justfile',
    'taskfile.yml',
    'taskfile.yaml',
    'rakefile',
    '.bazelrc',
  ),
  ...flagged('pipelines', '.github/workflows', '.github/actions', '.gitlab-ci.yml', '.circleci', 'jenkinsfile', '.travis.yml'),
  ...flagged('hooks', '.pre-commit-config.yaml', 'lefthook.yml', '.lefthook.yml', '.yarn/plugins', '.yarn/releases', '.mvn'),
  // Dangerous only with a configuration of git, which is held fast.
  ...flagged('filters', '.gitattributes'),
  ...flagged('submodules', '.gitmodules'),
]

export type CodePathMatcher = (name: string, parent: string) => CodePath | undefined

/** Tells for a name in a folder of the name `parent` whether it is such a path. */
export function codePathMatcher(paths: readonly CodePath[]): CodePathMatcher {
  const known = new Map(paths.map((path) => [path.path.toLowerCase(), path]))
  return (name, parent) => {
    const lower = name.toLowerCase()
    return known.get(lower) ?? known.get(`${parent.toLowerCase()}/${lower}`)
  }
}
