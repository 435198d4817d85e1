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
 * What is hidden or fixed and appears all the same goes to quarantine.
 */
export type Treatment = 'secret' | 'hidden' | 'fixed' | 'text' | 'flagged'

const fixed = (runs: string, ...paths: string[]): CodePath[] => paths.map((path) => ({ path, treatment: 'fixed', runs }))
const reserved = (runs: string, ...paths: string[]): CodePath[] =>
  paths.map((path) => ({ path, treatment: 'fixed', runs, reserve: true }))
const flagged = (runs: string, ...paths: string[]): CodePath[] => paths.map((path) => ({ path, treatment: 'flagged', runs }))

const secretInHome = (path: CodePath): CodePath => ({ ...path, inHome: 'secret' })

/** Those of editors, package managers, shells and build tools. Names of files that programs inside read are not reserved: they would stumble over a folder. */
export const commonCodePaths: readonly CodePath[] = [
  ...credentialPaths,
  ...reserved('tasks', '.vscode', '.idea', '.zed', '.fleet'),
  ...reserved('containers', '.devcontainer'),
  ...fixed('containers', '.devcontainer.json'),
  ...fixed('scripts', '.nvim.lua', '.nvimrc', '.exrc', '.lvimrc', '.dir-locals.el', '.gdbinit', '.lldbinit'),
  ...reserved('hooks', '.husky'),
  ...fixed('registry', '.npmrc', '.yarnrc', '.yarnrc.yml', 'bunfig.toml').map(secretInHome),
  ...fixed('hooks', '.pnpmfile.cjs', '.pnpmfile.mjs'),
  ...reserved('shell', '.envrc').map(secretInHome),
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
