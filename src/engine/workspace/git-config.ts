/** A configuration of git with nothing in it that names a program, leads elsewhere or holds a secret, and what was left out for that. */
export interface CleanGitConfig {
  readonly text: string
  readonly dropped: readonly string[]
  /** Those with their values, to tell whether they are the same as before. Undefined if git might read them differently than we do. */
  readonly rest: string | undefined
  readonly values: readonly string[]
}

interface Setting {
  readonly section: string
  readonly subsection: string | undefined
  readonly key: string
  readonly value: string
}

/** Settings that are wanted to work on, each with what its value must look like. Everything else is left out: git learns new ways to run things. */
const plain = /^[\w .,:@+*/=-]{0,200}$/
const person = /^[^\p{Cc}]{0,200}$/u
const branch = /^(?!-)[\w./+@-]{1,250}$/
const refspec = /^\+?(?!-)[\w./*+@-]{1,250}(:[\w./*+@-]{1,250})?$/
const known: Readonly<Record<string, RegExp | ((value: string) => string | undefined)>> = {
  'core.repositoryformatversion': /^\d$/,
  'core.filemode': plain,
  'core.bare': plain,
  'core.logallrefupdates': plain,
  'core.ignorecase': plain,
  'core.precomposeunicode': plain,
  'core.symlinks': plain,
  'core.autocrlf': plain,
  'core.eol': plain,
  'core.safecrlf': plain,
  'core.quotepath': plain,
  'core.sparsecheckout': plain,
  'core.sparsecheckoutcone': plain,
  // A submodule's folder of git lies elsewhere and says so here; the way back is relative.
  'core.worktree': /^(\.\.\/)+[\w./ -]{1,200}$/,
  'extensions.objectformat': plain,
  'extensions.refstorage': plain,
  'extensions.worktreeconfig': plain,
  'user.name': person,
  'user.email': person,
  'init.defaultbranch': branch,
  'branch.*.remote': branch,
  'branch.*.merge': branch,
  'branch.*.rebase': plain,
  'remote.*.url': safeUrl,
  'remote.*.pushurl': safeUrl,
  'remote.*.fetch': refspec,
  'remote.*.tagopt': /^--(no-)?tags$/,
  'submodule.*.url': safeUrl,
  'submodule.*.active': plain,
  'submodule.*.branch': branch,
  'submodule.active': plain,
  'pull.rebase': plain,
  'pull.ff': plain,
  'push.default': plain,
  'push.autosetupremote': plain,
  'merge.conflictstyle': plain,
  'diff.algorithm': plain,
  'rebase.autostash': plain,
  'commit.gpgsign': /^false$/,
}

/** Written anew from what was understood, so that nobody else can understand it differently. */
export function cleanGitConfig(text: string): CleanGitConfig {
  const settings = parse(text)
  if (!settings) return { text: '', dropped: ['what cannot be read'], rest: undefined, values: [] }
  const lines: string[] = []
  const dropped: string[] = []
  const rest: Setting[] = []
  for (const { section, subsection, key, value } of settings) {
    const rule = known[`${section}.${subsection === undefined ? '' : '*.'}${key}`]
    const kept = typeof rule === 'function' ? rule(value) : rule?.test(value) ? value : undefined
    const name = subsection === undefined ? section : `${section}.${subsection}`
    if (kept === undefined || /\p{Cc}/u.test(name)) {
      dropped.push(`${name}.${key}`)
      rest.push({ section, subsection, key, value })
    } else lines.push(`[${section}${subsection === undefined ? '' : ` ${quote(subsection)}`}]\n\t${key} = ${quote(kept)}\n`)
  }
  // Git goes on with the next line only in a value, and we also behind a remark: then nobody knows what it reads.
  const isPlain = !/\\\r?\n/.test(text)
  return {
    text: lines.join(''),
    dropped,
    rest: isPlain ? JSON.stringify(rest) : undefined,
    values: rest.map(({ value }) => value),
  }
}

const worktreeLine = /\[core\]\n\tworktree = "(.*)"\n/g

/** Where a cleaned configuration says that the files lie, and the same configuration without it. */
export const worktreeOf = (cleaned: string): string | undefined => [...cleaned.matchAll(worktreeLine)].at(-1)?.[1]
export const withoutWorktree = (cleaned: string): string => cleaned.replaceAll(worktreeLine, '')

const quote = (text: string) => `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`

/** An address of a protocol that moves data only. A password in it is left out. Undefined for the rest. */
function safeUrl(value: string): string | undefined {
  if (value.startsWith('-') || value.includes('::') || /\p{Cc}/u.test(value)) return undefined
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(value)?.[1]?.toLowerCase()
  // No scheme: a path, or the short form of ssh.
  if (scheme === undefined) return value
  if (!['https', 'http', 'ssh', 'git', 'file'].includes(scheme)) return undefined
  const url = URL.parse(value)
  if (!url || url.hostname.startsWith('-') || url.username.startsWith('-')) return undefined
  url.password = ''
  if (scheme !== 'ssh') url.username = ''
  return url.password === '' && value.includes('@') ? url.href : value
}

/** Undefined if git would refuse it too, or if it is far too much. */
function parse(text: string): Setting[] | undefined {
  if (text.length > 256_000 || text.includes('\0')) return undefined
  const settings: Setting[] = []
  let section: string | undefined
  let subsection: string | undefined
  // A backslash at the end of a line goes on with the next one.
  for (const line of text
    .replace(/^\ufeff/, '')
    .replaceAll('\r\n', '\n')
    .replaceAll('\\\n', '')
    .split('\n')) {
    let rest = line.trim()
    const header = /^\[\s*([A-Za-z0-9-]+)(?:\.([^\]"\s]+)|\s+"((?:[^"\\]|\\.)*)")?\s*\]/.exec(rest)
    if (header) {
      section = header[1]!.toLowerCase()
      subsection = header[3] !== undefined ? header[3].replace(/\\(.)/g, '$1') : header[2]?.toLowerCase()
      rest = rest.slice(header[0].length).trim()
    }
    if (rest === '' || rest.startsWith('#') || rest.startsWith(';')) continue
    const setting = /^([A-Za-z][A-Za-z0-9-]*)\s*(?:=(.*))?$/.exec(rest)
    if (!setting || section === undefined) return undefined
    const value = setting[2] === undefined ? 'true' : plainValue(setting[2].trim())
    if (value === undefined) return undefined
    settings.push({ section, subsection, key: setting[1]!.toLowerCase(), value })
  }
  return settings
}

const escapes: Readonly<Record<string, string>> = { n: '\n', t: '\t', b: '\b', '"': '"', '\\': '\\' }

function plainValue(raw: string): string | undefined {
  let [value, quoted] = ['', false]
  for (let at = 0; at < raw.length; at++) {
    const char = raw[at]!
    if (char === '"') quoted = !quoted
    else if (char === '\\') {
      const meant = escapes[raw[++at] ?? '']
      if (meant === undefined) return undefined
      value += meant
    } else if ((char === '#' || char === ';') && !quoted) break
    else value += char
  }
  return quoted ? undefined : value.trim()
}
