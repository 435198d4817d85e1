import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'

/**
 * What may import what. A part is a folder of src, or a file directly in it; `a/b` narrows to one file or folder. Everything may import domain,
 * clock, log, failpoint and gate, which know nobody.
 */
const allowed: Record<string, readonly string[]> = {
  domain: [],
  clock: [],
  log: [],
  failpoint: [],
  gate: [],
  version: [],
  agent: ['process/child'],
  sandbox: ['agent', 'process/child'],
  'mcp-server': ['process/child'],
  process: [],
  agents: ['agent', 'process', 'tools/bridge', 'egress/address-class'],
  sandboxes: ['sandbox', 'agent', 'process'],
  config: ['agent', 'egress/host-rule', 'gateway/provider/kinds'],
  egress: [],
  gateway: [],
  telemetry: ['gateway/money/purse', 'gateway/wires/conventional-name', 'store/spans', 'store/database'],
  files: ['process/agent-user'],
  secrets: ['store'],
  store: ['process'],
  engine: ['agent', 'sandbox', 'mcp-server', 'store', 'process', 'files', 'egress', 'secrets', 'gateway', 'telemetry'],
  tools: ['mcp-server', 'store', 'version', 'egress', 'process', 'sandbox', 'files'],
  surfaces: ['engine/runtime', 'engine/entrance', 'engine/secrets', 'engine/listeners', 'engine/said', 'files/made-once'],
  client: [],
  'run-file': ['process/identity'],
  cli: [
    'client',
    'gateway/recordings',
    'config',
    'run-file',
    'process/descriptors',
    'version',
    'describe',
    'daemon',
    'doctor',
    'agents/index',
    'engine/runtime',
    'engine/entrance',
    'engine/secrets',
    'surfaces/acp',
    'surfaces/mcp',
  ],
  describe: ['agent', 'agents', 'config'],
  doctor: ['*'],
  daemon: ['*'],
  walls: ['engine', 'sandboxes', 'process/identity', 'version'],
  index: ['*'],
  library: ['*'],
}
const everybody = ['domain', 'clock', 'log', 'failpoint', 'gate']

const src = resolve(import.meta.dirname, '../src')
const files = (readdirSync(src, { recursive: true }) as string[]).filter((file) => /\.(ts|js)$/.test(file))
const sources = files.filter((file) => !/\.test\.ts$|(^|\/)(fixture|testing)\.ts$/.test(file))
const textOf = (file: string) => readFileSync(join(src, file), 'utf8')
const partOf = (file: string) => file.replace(/\.(ts|js)$/, '').split('/')[0]!

const importsOf = (file: string) =>
  [...textOf(file).matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)]
    .map((match) => match[1]!)
    .filter((path) => path.startsWith('.'))

describe('the architecture', () => {
  it('lets each part import only what its row allows', () => {
    const offenders = sources.flatMap((file) => {
      const part = partOf(file)
      const row = allowed[part]
      if (!row) return [`${part} has no row in the table`]
      return importsOf(file).flatMap((path) => {
        const target = relative(src, resolve(src, dirname(file), path)).replace(/\.(ts|js|json)$/, '')
        const targetPart = target.split('/')[0]!
        const isAllowed =
          targetPart === part ||
          targetPart === '..' ||
          everybody.includes(targetPart) ||
          row.some((entry) => entry === '*' || entry === targetPart || target === entry || target.startsWith(`${entry}/`))
        return isAllowed ? [] : [`${file} imports ${target}`]
      })
    })
    expect(offenders).toEqual([])
  })

  it('keeps adapters, sandboxes and surfaces ignorant of each other', () => {
    const offenders = sources.flatMap((file) => {
      const [part, folder, rest] = file.split('/')
      if (!['agents', 'sandboxes', 'surfaces'].includes(part!) || rest === undefined) return []
      return importsOf(file).flatMap((path) => {
        const target = relative(src, resolve(src, dirname(file), path)).split('/')
        // Programs that speak the Agent Client Protocol share the one conversation in it.
        if (part === 'agents' && target[1] === 'acp') return []
        return target[0] === part && target.length > 2 && target[1] !== folder ? [`${file} imports ${target.join('/')}`] : []
      })
    })
    expect(offenders).toEqual([])
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
      'config.ts',
      'sandboxes/bubblewrap/init.ts',
      'tools/bridge.ts',
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
      .filter((file) => /^(store|engine)\//.test(file))
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
    expect(sources.filter((file) => !/^(agents|gateway)\/|^domain\/models\.ts$/.test(file) && names.test(textOf(file)))).toEqual(
      [],
    )
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

  it('uses no words that say nothing in file names', () => {
    expect(files.filter((file) => /(^|\/|-)(utils?|helpers?|common|misc|manager|enhanced|advanced)(\.|\/|-)/.test(file))).toEqual(
      [],
    )
  })
})
