import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { httpRequests } from './architecture/http.ts'
import { layerOffences, partOffences, productOf, testHelpersInProduct, unseenImports } from './architecture/imports.ts'
import { handMadeInsideTests } from './architecture/inside.ts'
import { layers } from './architecture/layers.ts'

/**
 * What may import what. A part is a folder of src, or a file directly in it; `a/b` narrows to one file or folder. Everything may import domain,
 * redact and base, which know nobody else.
 */
const allowed: Record<string, readonly string[]> = {
  domain: [],
  redact: [],
  base: ['../package'],
  sandbox: [],
  bounded: [],
  'task-file': ['config', 'agents/index', 'bounded'],
  agents: [
    'sandbox/port',
    'sandbox/process',
    'bounded',
    'tools/mcp/bridge',
    'sandbox/egress/address-class',
    'sandbox/egress/http-client',
    'sandbox/files/remove-tree',
    'sandbox/files/directory-handle',
    'sandbox/files/temporary',
  ],
  config: ['agents/port', 'sandbox/egress/host-rule', 'gateway/provider/kinds'],
  gateway: [],
  telemetry: [
    'gateway/money/purse',
    'gateway/wires/conventional-name',
    'store/spans',
    'store/database',
    'sandbox/egress/http-client',
  ],
  secrets: ['store'],
  store: ['sandbox/process', 'sandbox/files'],
  engine: ['agents/port', 'sandbox', 'tools/servers/port', 'store', 'secrets', 'gateway', 'telemetry', 'bounded'],
  tools: ['bounded', 'store', 'sandbox'],
  operations: [
    'engine',
    'agents/port',
    'store',
    'gateway/recordings',
    'gateway/provider',
    'sandbox/files/remove-tree',
    'sandbox/files/directory-handle',
    'sandbox/process/agent-user',
  ],
  surfaces: [
    'operations/runtime',
    'operations/listeners',
    'operations/tasks/transcript',
    'engine/auth/auth',
    'engine/auth/audit',
    'engine/auth/denials',
    'engine/auth/secrets',
    'engine/delivery/listeners',
    'sandbox/files/made-once',
  ],
  client: [],
  cli: [
    'client',
    'task-file',
    'gateway/recordings',
    'config',
    'sandbox/process/descriptors',
    'daemon',
    'agents/index',
    'operations/runtime',
    'engine/auth/auth',
    'engine/auth/audit',
    'engine/auth/secrets',
    'surfaces/acp',
    'surfaces/mcp',
  ],
  daemon: ['*'],
  library: ['*'],
}
/** Modules that may import `rm` or `cp`, and why no agent can put a folder or a link in the place of what they remove. */
const mayUseRm: Record<string, string> = {
  'daemon/machine/run-file.ts': 'a file in the home of Pawl',
  config: "the user's configuration, and probes in the home of Pawl",
  secrets: 'key files in the home of Pawl',
  store: 'the database, the backups and the home of Pawl',
  'cli/service/service.ts': "the unit file of the user's service manager",
  'surfaces/http/access-log.ts': 'logs in the home of Pawl',
  'sandbox/bubblewrap/mount-table.ts': 'mount tables in a folder of the daemon',
  'agents/demo/program.js': 'runs inside the sandbox, with the rights of the agent',
  'agents/ollama/program/files.ts': 'runs inside the sandbox, with the rights of the agent',
  'sandbox/files/made-once.ts': 'drafts in the home of Pawl',
  'engine/auth/cleanup-journal.ts': 'its own records in the home of Pawl',
  'engine/upkeep/periodic-backups.ts': 'the backup folder',
  'operations/backups.ts': 'the backup folder',
  'engine/workspace/changes/snapshot-cache.ts': 'records beside the store folders, in a folder of ours',
  'engine/workspace/changes/store-folder.ts': 'records beside the store folders, in a folder of ours',
  'engine/files/blobs.ts': 'the blobs, which agents never see',
  'engine/files/lay-attachments.ts': 'laid out files, which agents see read-only',
  'engine/recordings/folder.ts': 'the recordings, which agents never see',
  'engine/recordings/keep-file.ts': 'the recordings, which agents never see',
  'engine/workspace/quarantine.ts': 'the list, beside the quarantine',
}
/**
 * Where entries are opened, read, listed, made or changed by their path, and why no agent can put a link there, or why one would lead nowhere. Everywhere else that goes
 * by the handle of a folder, through src/sandbox/files.
 */
const byPath: Record<string, string> = {
  // The way by handles itself, and those whose paths all come from an open folder.
  'sandbox/files': 'the way by handles; and files that a person named, or that only Pawl writes',
  'engine/workspace/homes.ts': 'the list of the users of the machine',
  'engine/workspace/stubs.ts': 'the folder for stubs that wait, in the home of Pawl',
  'engine/workspace/find-code.ts': 'its paths come from an open folder',
  'engine/workspace/tree-hash.ts': 'its paths come from an open folder',
  'engine/workspace/same-place.ts': 'asks the kernel where the folder is that it opened',
  'engine/recordings/keep-tree.ts': 'its paths come from an open folder',
  'engine/workspace/tree.ts': 'its paths come from an open folder; the top is a copy in a folder of ours',
  // Folders that only Pawl and its user write.
  'daemon/machine/run-file.ts': 'the home of Pawl',
  daemon: 'the home of Pawl',
  'daemon/daemon.ts': 'the home of Pawl',
  config: "the user's configuration, and probes in the home of Pawl",
  secrets: 'the home of Pawl',
  store: 'the database, the backups and the home of Pawl',
  'surfaces/http/access-log.ts': 'logs in the home of Pawl',
  'surfaces/http/page-files.ts': 'the files of the page',
  'surfaces/http/send-file.ts': 'the backups',
  'engine/auth/cleanup-journal.ts': 'the home of Pawl',
  'engine/auth/lent-login.ts': 'logins in the home of the user',
  'engine/upkeep/periodic-backups.ts': 'the backup folder',
  'operations/backups.ts': 'the backup folder',
  'engine/workspace/changes': 'the names of store folders, in a folder of ours; a list that is made and never followed',
  'engine/checks': 'the records of a run, and a home in them that was just made',
  'engine/files': 'the blobs and laid out files, which agents see read-only; a folder that is made by handle',
  'engine/delivery/changes.ts': 'folders that were just made, before anything is started in them',
  'engine/delivery/command.ts': 'folders that were just made, before anything is started in them',
  'engine/delivery/recall.ts': 'folders that were just made, before anything is started in them',
  'engine/run/newer-version.ts': 'marks in the home of Pawl',
  'engine/run/prepare.ts': 'the homes of sessions, whose parent is ours',
  'engine/run/raw-log.ts': 'the records of a run, which agents never see',
  'engine/recordings': 'the recordings, and a copy that no agent has yet',
  'engine/rights/mounts.ts': 'a mount outside of the workspace, as the profile names it',
  'operations/run-log.ts': 'the records of a run, which agents never see',
  'engine/run/run-tools.ts': 'a folder in the records of the run',
  'engine/self-test': 'the bait, before anything is started in it, and what is remembered of it',
  'engine/session/adopt.ts': 'a home that was just made',
  'engine/session/home.ts': 'the names in a session home, whose parent is ours',
  'engine/skills': 'the skills of the home and of its users; what a link among them leads to is read by handle',
  'engine/tasks/templates.ts': 'the prompts in the home of Pawl',
  'engine/workspace/guard.ts': 'what is shown instead, in the records of the run',
  'engine/workspace/private-git/make.ts':
    'git directories that were just made, before they are mounted anywhere; the real one is read by handle',
  'engine/workspace/private-git/private-gits.ts': 'lists in the home of Pawl',
  'engine/workspace/private-git/bring-back.ts': 'what is known of the real git directory, in the home of Pawl',
  'engine/workspace/private-git/import-objects.ts': 'a folder of ours, into which objects are taken by handle',
  'engine/workspace/guard-record.ts': 'the record, beside the workspace',
  'engine/workspace/quarantine.ts': 'the quarantine and its list, in a folder of ours',
  'engine/workspace/clone.ts': 'the names of clones, in a folder of ours',
  'engine/workspace/copy.ts': 'the names of copies, in a folder of ours',
  'engine/workspace/copy-tree.ts': 'a copy that no agent has yet',
  'engine/workspace/kept.ts': 'the names of workspaces, in a folder of ours',
  'engine/workspace/git.ts': 'a copy of an index, in a folder that was just made',
  // Folders that were just made, before anything is started in them.
  'engine/mcp-servers/look.ts': 'folders that were just made, before anything is started in them',
  'agents/codex/databases.ts': 'a home that was just made, for a program that asks no model',
  'daemon/doctor': 'a folder that was just made',
  'daemon/doctor/doctor.ts': 'the homes of sessions, for names alone',
  'tools/ssh/connection.ts': 'keys in the records of a run, which agents never see',
  // The user, at the user's own word, with the rights of whoever calls.
  'task-file/source.ts': 'a file that the user names',
  cli: "the user's own folders, at the user's own word",
  library: 'a file that the caller names',
  'agents/claude-code/probe.ts': 'the home of the user',
  'agents/codex/probe.ts': 'the home of the user',
  'agents/gemini-cli/probe.ts': 'the home of the user, and the package of the program',
  'agents/gemini-cli/session-files.ts': 'names of folders alone: one that looks like no name of a workspace is not used',
  // Inside the sandbox, with the rights of the agent; and the source text of what runs there.
  'agents/demo': 'runs inside the sandbox',
  'agents/ollama/program': 'runs inside the sandbox',
  'agents/a2a': 'runs inside the sandbox',
  'agents/shared/own-program.ts': 'source text of Pawl',
  // The system.
  'sandbox/process': 'the process table, and programs, each step of whose path is checked',
  'sandbox/bubblewrap': 'folders of the daemon, control groups, the process table, programs',
}
/**
 * Where a path is asked for where it really leads, and why what it answers may be used: nobody but its user can put a link on the way, or the answer is held against what was meant
 * (`placeAt`), or nothing is done with it but to compare. Who asks twice may get two answers.
 */
const mayFollowLinks: Record<string, string> = {
  'engine/auth/clean-up.ts': 'logins in the home of the user, which may be links of that user',
  'engine/upkeep/left-temporaries.ts': 'the home of Pawl and the folder for temporary files, not what lies in them',
  'sandbox/process': 'programs, each step of whose path is checked',
  'sandbox/files/remove-tree.ts': 'the folder above a tree, which only Pawl writes',
  'sandbox/bubblewrap': 'sources of mounts, which are held against what was mounted',
  'agents/claude-code/probe.ts': 'programs that are installed',
  'agents/codex/probe.ts': 'programs that are installed',
  'agents/gemini-cli/probe.ts': 'programs that are installed',
  'agents/opencode/probe.ts': 'programs that are installed',
  'agents/acp': 'programs that are installed; and source text of what runs inside the sandbox',
  'agents/ollama/program': 'runs inside the sandbox',
  'config/trust.ts': 'the name by which a file is trusted, beside its digest',
  daemon: 'the home of Pawl',
  cli: "the user's own folders, at the user's own word",
  store: 'the database and the home of Pawl',
  'surfaces/acp/folder.ts': 'the folder that an editor names, which is checked when the session is made',
  'operations/tasks/create/choose-workspace.ts': 'the home of Pawl',
  'operations/tasks/create/mounts.ts': 'compared, and stored as it was compared',
  'operations/draft-folders.ts': 'the home of Pawl',
  'tools/files/files.ts': 'folders that have no mark, because nobody can exchange them',
  'engine/auth/may-ask.ts': 'what is answered is what was checked',
  'engine/auth/lent-login.ts': 'logins in the home of the user',
  'engine/rights/mounts.ts': 'mounts of the profile, as its author named them; those of tasks are held against what they were',
  'engine/session/home.ts': 'homes of sessions, whose parent is ours, and the home of the user',
  'engine/skills/read-folder.ts': 'what is answered is opened without following a link',
  'engine/workspace/bring-back.ts': 'a copy, in a folder of ours',
  'engine/workspace/clone.ts': 'a clone that no agent has yet',
  'engine/workspace/copy-tree.ts': 'our own Node',
  'engine/workspace/cover.ts': 'paths to be covered, where they lead',
  'engine/workspace/disk-watch.ts': 'sizes alone',
  'engine/workspace/guard.ts': 'held against what the workspace was; and the home of Pawl',
  'engine/workspace/homes.ts': 'the homes of users',
  'engine/workspace/kept.ts': 'the home of Pawl',
  'engine/workspace/linked-repository.ts': 'compared, and held against what was mounted',
  'engine/workspace/masks.ts': 'what is to be held besides',
  'engine/workspace/same-place.ts': 'to tell that a path leads elsewhere; and the home of Pawl',
  'engine/workspace/trusted.ts': 'a folder that a person trusts, at that word',
  'engine/workspace/workspace.ts': 'to refuse homes',
}
/** Who starts programs, and why none of them walks by path where an agent can put a link. */
const mayStartPrograms: Record<string, string> = {
  'sandbox/process/spawn.ts': 'the one who starts what runs in a sandbox',
  'sandbox/files/sync.ts': 'sync, of folders that are open',
  'sandbox/bubblewrap/sandbox.ts': 'asks bubblewrap for its version',
  'engine/workspace/git.ts': 'git, inside the sandbox, on repositories of ours, or behind walls of its own',
  'engine/workspace/copy.ts': 'chown, of a copy that no agent has yet',
  'engine/workspace/clone.ts': 'chown, of a clone that no agent has yet',
  'engine/workspace/copy-tree.ts': 'cp, behind walls of its own',
  'engine/self-test': 'sleep, as a bait; and source text of what runs inside the sandbox',
  'secrets/key-source.ts': 'the keyring of the user',
  'cli/service': 'the service manager and the package manager, at the word of the user',
  'cli/commands/open.ts': 'the browser, at the word of the user',
  'store/embedded': 'the database server',
  'agents/ollama/program': 'runs inside the sandbox',
  'agents/acp/attendant-source.ts': 'source text of a program that runs inside the sandbox',
}
/** Source text of programs that run inside the sandbox, which name their modules in their own way. */
const insideText =
  /^(sandbox\/bubblewrap\/init|agents\/(acp\/attendant-source|codex\/databases|opencode\/go-on)|engine\/self-test\/probe-source)\.ts$/
/** Where a regular expression is put together, and of what: of nothing that comes from a user, a file, an agent, a server or a model. Those go through `bounded/`. */
const mayBuildRegExp: Record<string, string> = {
  'agents/gemini-cli/complaints.ts': 'constant sentences',
  'cli/finding/find.ts': 'the letter of a kind of id',
  'cli/service/repair.ts': 'constant names of packages',
  'domain/id.ts': 'the prefix of a kind of id',
  'domain/profile/shown-paths.ts': 'paths of mounts, escaped, without a repetition',
  redact: 'constant marks and widths',
  'domain/base/visible.ts': 'constant ranges of characters',
  'engine/journal/feed-cursor.ts': 'constant pieces',
  'gateway/recordings/normalise.ts': 'constant names of months and days',
  'surfaces/http/examples/sample.ts': 'the patterns of our own schemas',
  'surfaces/http/methods.ts': 'the paths of our own routes',
}
/** Who asks by HTTP without `egress/http-client`, and why. */
const mayAskByHttp: Record<string, string> = {
  'sandbox/egress/http-client.ts': 'the client',
  'sandbox/egress/relay.ts': 'hands on what an agent asks, and its answer, as they come',
  'client/transport/node-transport.ts':
    'the client of a daemon, which other programs use without the rest of Pawl; it trusts the one certificate of that daemon',
  'tools/strict/web-fetch.ts': 'its fetch is the fetcher of egress/fetch',
  'agents/a2a/program': 'runs inside the sandbox; the probe asks with the very same, so as to see what a run would',
  'agents/ollama/program': 'runs inside the sandbox',
  'agents/demo/program.js': 'runs inside the sandbox',
  'tools/mcp/bridge.ts': 'source text of a program that runs inside the sandbox',
}
/** Where a text is held against the beginning of another that is no folder of ours, or where `isInside` cannot be. */
const mayCompareBeginnings: Record<string, string> = {
  'gateway/provider/upstream.ts': 'the version at the beginning of the path of an address',
  'agents/ollama/program/asking.ts': 'the address of a model',
  'agents/acp/attendant-source.ts': 'source text of a program that runs inside the sandbox, and imports nothing of ours',
}
const everybody = ['domain', 'redact', 'base']

/** Every file with such a text is on the list, and everything on the list has such a file. */
function holdsExactly(list: Readonly<Record<string, string>>, form: RegExp): void {
  const found = sources.filter((file) => form.test(textOf(file)))
  const isIn = (file: string, place: string) => file === place || file.startsWith(`${place}/`)
  expect(found.filter((file) => !Object.keys(list).some((place) => isIn(file, place)))).toEqual([])
  expect(Object.keys(list).filter((place) => !found.some((file) => isIn(file, place)))).toEqual([])
}

const src = resolve(import.meta.dirname, '../src')
const files = (readdirSync(src, { recursive: true }) as string[]).filter((file) => /\.(ts|js)$/.test(file))
const texts = new Map(files.map((file) => [file, readFileSync(join(src, file), 'utf8')]))
const sources = [...productOf(texts).keys()]
const textOf = (file: string) => texts.get(file)!

describe('the architecture', () => {
  it('lets each part import only what its row allows, by value, by type and when it is needed', () => {
    expect(partOffences(texts, allowed, everybody)).toEqual([])
  })

  it('lets each room of a folder import only rooms below it', () => {
    expect(layerOffences(texts, layers)).toEqual([])
  })

  it('imports only what a reader of the import can name', () => {
    expect(unseenImports(texts)).toEqual([])
  })

  it('has no file of the product import a test or a helper of tests', () => {
    expect(testHelpersInProduct(texts)).toEqual([])
  })

  it('builds regular expressions at run time only where this list says of what', () => {
    const places = Object.keys(mayBuildRegExp)
    const builders = sources.filter((file) => /\bRegExp\(|\bnew Script\(|fromJSONSchema\(/.test(textOf(file)))
    const place = (file: string) => places.find((each) => file === each || file.startsWith(`${each}/`))
    expect(builders.filter((file) => place(file) === undefined)).toEqual([])
    expect(places.filter((each) => !builders.some((file) => place(file) === each))).toEqual([])
  })

  it('asks isInside whether a path is inside a folder', () => {
    const found = handMadeInsideTests(texts)
    const places = Object.keys(mayCompareBeginnings)
    expect(found.filter((line) => !places.some((place) => line.startsWith(`${place}:`)))).toEqual([])
    expect(places.filter((place) => !found.some((line) => line.startsWith(`${place}:`)))).toEqual([])
  })

  it('asks others by HTTP in one place, where the deadline, the bound and the way out are decided', () => {
    const found = httpRequests(texts)
    const places = Object.keys(mayAskByHttp)
    const isIn = (line: string, place: string) => line.startsWith(`${place}:`) || line.startsWith(`${place}/`)
    expect(found.filter((line) => !places.some((place) => isIn(line, place)))).toEqual([])
    expect(places.filter((place) => !found.some((line) => isIn(line, place)))).toEqual([])
  })

  it('keeps the domain free of input, output and libraries but the schema library', () => {
    const offenders = sources
      .filter((file) => file.startsWith('domain/'))
      .flatMap((file) => [...textOf(file).matchAll(/from '([^'.][^']*)'/g)].map((match) => `${file} imports ${match[1]}`))
      .filter((line) => !line.endsWith(' zod'))
    expect(offenders).toEqual([])
  })

  it('reads the environment in config.ts alone', () => {
    // These are the source text of other programs, which run inside the walls.
    const readers = [
      'config/config.ts',
      'sandbox/bubblewrap/init.ts',
      'tools/mcp/bridge.ts',
      'agents/ollama/program/main.ts',
      'agents/a2a/program/main.ts',
      'agents/acp/attendant-source.ts',
    ]
    expect(
      sources.filter((file) => !readers.includes(file) && file.endsWith('.ts') && /process\.env\b/.test(textOf(file))),
    ).toEqual([])
  })

  it('never asks the database for the time', () => {
    const clocks = /\bnow\(\)|current_timestamp|clock_timestamp|statement_timestamp|localtimestamp/i
    const offenders = sources
      .filter((file) => /^(store|engine|operations)\//.test(file))
      .flatMap((file) =>
        [...textOf(file).matchAll(/`[^`]*`/gs)]
          .filter(
            (text) => /\b(select|insert|update|delete)\b/i.test(text[0]) && clocks.test(text[0].replaceAll(/\$\{[^}]*\}/g, '')),
          )
          .map(() => file),
      )
    expect(offenders).toEqual([])
  })

  it('names no agent program outside agents/', () => {
    // Some makers call their format as they call their program: the gateway, and the list of formats.
    const names = /claude|codex|gemini|ollama|opencode/i
    expect(
      sources.filter((file) => !/^(agents|gateway)\/|^domain\/agent\/models\.ts$/.test(file) && names.test(textOf(file))),
    ).toEqual([])
  })

  it('follows no path in a folder that an agent can write: what is opened, read, listed or changed there goes by handle', () => {
    const calls =
      'rm|cp|rename|chmod|chown|lchown|rmdir|unlink|copyFile|symlink|link|readFile|writeFile|appendFile|open|opendir|readdir|mkdir|mkdtemp|truncate|utimes|lutimes|readlink|createReadStream|createWriteStream|watch|glob'
    const call = new RegExp(`(?<![.\\w#])((?:${calls})(?:Sync)?)\\(`)
    // `folder.at(name)` is a name in a folder that is held open.
    const byHandle = /\.at(Bytes)?\(|\/proc\/self\/fd\//
    const found = sources.flatMap((file) => {
      const text = textOf(file)
      const imported = [...text.matchAll(/import \{([^}]*)\} from 'node:fs(?:\/promises)?'/g)].flatMap(([, names]) =>
        names!.split(',').flatMap((name) => name.trim() || []),
      )
      const isByPath = (line: string) => !byHandle.test(line) && imported.includes(call.exec(line)?.[1] ?? '')
      return text.split('\n').some(isByPath) ? [file] : []
    })
    const isIn = (file: string, place: string) => file === place || file.startsWith(`${place}/`)
    expect(found.filter((file) => !Object.keys(byPath).some((place) => isIn(file, place)))).toEqual([])
    expect(Object.keys(byPath).filter((place) => !found.some((file) => isIn(file, place)))).toEqual([])
    // Nor under another name.
    const renamed = /import (?:(?:\* as )?\w+|\{[^}]*\bas \w+[^}]*\}) from 'node:fs(?:\/promises)?'/
    expect(sources.filter((file) => renamed.test(textOf(file)))).toEqual([])
  })

  it('asks where links lead only where this list says why', () => {
    holdsExactly(mayFollowLinks, /\brealpath(?:Sync)?(?:\.native)?\(/)
  })

  it('starts programs only where this list says which: `cp`, `rm`, `tar` or git would follow a path that an agent can change', () => {
    holdsExactly(mayStartPrograms, /['"](?:node:)?child_process['"]/)
  })

  it('names the file system in imports alone, where the rules for it can see what is used', () => {
    const otherwise =
      /(?:require|getBuiltinModule|import)\(\s*['"`](?:node:)?fs(?:\/promises)?['"`]|from ['"]fs(?:\/promises)?['"]/
    const found = sources.filter((file) => otherwise.test(textOf(file)) && !insideText.test(file))
    // It reads a file for its own user.
    expect(found).toEqual(['cli/commands/verify.ts'])
  })

  it('imports no rm or cp where agents write: both recurse by path once a folder has taken the place of a file', () => {
    // Also through a handle, also without `recursive`, and under whatever name the module gives them.
    const imported = /import (?:\{[^}]*\b(?:rm|rmSync|cp|cpSync)\b[^}]*\}|(?:\* as )?\w+) from 'node:fs(?:\/promises)?'/
    const offenders = sources.filter((file) => imported.test(textOf(file)))
    expect(
      offenders.filter((file) => !Object.keys(mayUseRm).some((place) => file === place || file.startsWith(`${place}/`))),
    ).toEqual([])
    expect(
      Object.keys(mayUseRm).filter((place) => !offenders.some((file) => file === place || file.startsWith(`${place}/`))),
    ).toEqual([])
  })

  it('removes whole trees in one place: a path-based recursion would follow a link that takes the place of a folder midway', () => {
    const recursive = /\b(rm|rmSync|cp|cpSync)\([^\n]*recursive: true/
    expect(
      sources.filter((file) => recursive.test(textOf(file)) && !/^store\/embedded\/|^engine\/recordings\/folder\.ts$/.test(file)),
    ).toEqual([])
  })

  it('lets no test replace what it tests: nothing is mocked', () => {
    const root = resolve(src, '..')
    const tests = ['src', 'test'].flatMap((part) =>
      (readdirSync(join(root, part), { recursive: true }) as string[])
        .filter((file) => file.endsWith('.ts'))
        .map((file) => join(root, part, file)),
    )
    const doubles = new RegExp(['vi', '(mock|spyOn|fn|stubGlobal|doMock)'].join('\\.'))
    expect(tests.filter((file) => doubles.test(readFileSync(file, 'utf8')))).toEqual([])
  })

  it('lets commands write to the terminal through one file', () => {
    const writes = /\b(?:stdout|stderr)\.write\((?!'',)|\bconsole\./
    expect(
      sources.filter((file) => file.startsWith('cli/') && file !== 'cli/terminal/terminal.ts' && writes.test(textOf(file))),
    ).toEqual([])
  })

  it('draws every text of the page through one function, which makes visible what a reader would not see', () => {
    const web = resolve(src, '../web')
    expect(readFileSync(join(web, 'tsconfig.json'), 'utf8')).toContain('"jsxImportSource": "drawn"')
    expect(readFileSync(join(web, 'vite.config.ts'), 'utf8')).toContain("react({ jsxImportSource: 'drawn' })")
    const pastIt =
      /\b(createElement|cloneElement|innerHTML|outerHTML|dangerouslySetInnerHTML|insertAdjacent\w+|createTextNode|innerText|textContent|document\.title|document\.write)\b|\b(?:window\.)?(?:alert|confirm|prompt)\(|new Notification\(|from 'react\/jsx|@jsx|content: attr\((?!data-head)/
    const files = (readdirSync(join(web, 'src'), { recursive: true }) as string[]).filter((file) => /\.(tsx?|css)$/.test(file))
    expect(
      files.filter((file) => !file.startsWith('drawn/') && pastIt.test(readFileSync(join(web, 'src', file), 'utf8'))),
    ).toEqual([])
  })

  it('uses no words that say nothing in file names', () => {
    expect(files.filter((file) => /(^|\/|-)(utils?|helpers?|common|misc|manager|enhanced|advanced)(\.|\/|-)/.test(file))).toEqual(
      [],
    )
  })
})
