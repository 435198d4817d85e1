import { isInside, type SandboxPath, sandboxPath } from '../../domain/base/path.ts'
import type { Profile } from '../../domain/profile/profile.ts'
import { compileGlob, type Glob } from '../../domain/rule/glob.ts'

/** What our file tools leave alone inside the folders that a run may see. Names are compared without regard to case. */
export interface PathRules {
  /** Neither read, written nor listed: a name, with `*`, wherever it lies; a folder stands for all below it. */
  readonly blocked: readonly string[]
  /** Exceptions: names, or whole paths as the agent sees them. */
  readonly open: readonly string[]
  /** Folders that searches and listings go around unless they begin in one. */
  readonly passedOver: readonly string[]
  /** Paths as the agent sees them that may be read but not changed, with all below. */
  readonly readonly: readonly string[]
}

export const defaultPathRules: PathRules = {
  blocked: [
    ...['.env', '.env.*', '.envrc', '.netrc', '.pgpass', '.my.cnf', '.htpasswd', '.git-credentials', '.dockercfg'],
    ...['*.pem', '*.key', '*.p12', '*.pfx', '*.jks', '*.keystore', '*.kdbx', '*.ppk', '*.asc', '*.gpg'],
    ...['id_rsa*', 'id_dsa*', 'id_ecdsa*', 'id_ed25519*'],
    ...['.git', '.hg', '.svn', '.ssh', '.gnupg', '.aws', '.azure', '.kube'],
  ],
  open: ['.env.example', '.env.sample', '.env.template', '.env.dist', 'id_*.pub'],
  passedOver: ['node_modules', '.venv', 'venv', '__pycache__', '.tox', '.cache'],
  readonly: [],
}

/** The default, but for what a rule of the profile allows by its very name: `Read(.env)`, `Write(config/tls.pem)`. */
export function pathRulesOf(profile: Pick<Profile, 'rules'>): PathRules {
  const named = profile.rules.allow.flatMap((rule) => /^(?:Read|Write|Edit)\((?:\.\/)?([^*()]+)\)$/.exec(rule)?.[1] ?? [])
  return { ...defaultPathRules, open: [...defaultPathRules.open, ...named] }
}

export interface CompiledRules {
  /** Is this entry, seen at `path` with these names below its root, one that is left alone? */
  isBlocked(names: readonly string[], path: string): boolean
  isPassedOver(name: string): boolean
  isReadonly(path: SandboxPath): boolean
}

export function compileRules({ blocked, open, passedOver, readonly }: PathRules): CompiledRules {
  const compile = (patterns: readonly string[]): Glob[] => patterns.map((pattern) => compileGlob(pattern.toLowerCase()))
  const [blocks, opens, passes] = [compile(blocked), compile(open), compile(passedOver)]
  const shut = readonly.map(sandboxPath)
  const fits = (globs: readonly Glob[], text: string) => globs.some((glob) => glob.matches(text.toLowerCase()))
  return {
    isBlocked: (names, path) =>
      names.some((name) => fits(blocks, name.normalize('NFC')) && !fits(opens, name)) &&
      !fits(opens, path) &&
      !fits(opens, names.join('/')),
    isPassedOver: (name) => fits(passes, name),
    isReadonly: (path) => shut.some((folder) => isInside(folder, path)),
  }
}
