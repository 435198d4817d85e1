import { existsSync } from 'node:fs'
import { posix } from 'node:path'
import { invalid, PawlError } from '../../domain/error.ts'
import type { Command, LaunchSpec } from '../port.ts'
import { doorServers, toolTimeoutMs } from '../shared/door-servers.ts'
import { emptyDatabases } from './databases.ts'
import { checkTools } from './disabled-tools.ts'
import type { CodexOptions } from './options.ts'
import { checkRules, isAgainstRules } from './rules.ts'
import { sessionFiles } from './session-files.ts'
import { providerId, quoted, settings } from './settings.ts'
import { chooseTransport, type Transport } from './transport.ts'

const schemaFile = '.codex/pawl-output-schema.json'
const databases = '/tmp/codex-databases'
const givenDatabases = '.codex/pawl-databases'

/** `codex app-server` or `codex exec`; all settings are in the `config.toml` of the session home, the prompt goes by stdin. */
export function codexCommand(spec: LaunchSpec<CodexOptions>): Command {
  check(spec)
  const transport = chooseTransport(spec)
  const files: Record<string, string | Uint8Array> = { '.codex/config.toml': settings(spec) }
  if (transport === 'exec' && spec.outputSchema) files[schemaFile] = JSON.stringify(spec.outputSchema)
  const env: Record<string, string> = { CODEX_HOME: posix.join(spec.home, '.codex'), NO_COLOR: '1' }
  if (isTemporary(spec.home)) {
    // With its home below the folder for temporary files the program finds no helper for its own sandbox.
    env.TMPDIR = posix.join(spec.home, 'tmp')
    files['tmp/.pawl'] = ''
  }
  // They only index the conversations and are made anew where they are missing. On a disk that doubles the time of its start; behind the walls' own folder for
  // temporary files there is memory.
  if (spec.walled) env.CODEX_SQLITE_HOME = databases
  const given = transport === 'app-server' && isFirst(spec) ? emptyDatabases(spec) : undefined
  if (given) {
    env.CODEX_SQLITE_HOME = posix.join(spec.home, givenDatabases)
    for (const [name, bytes] of Object.entries(given)) files[`${givenDatabases}/${name}`] = bytes
  }
  return { file: spec.program ?? spec.options.command, args: argumentsOf(spec, transport), env, files }
}

/**
 * A conversation that is gone on with is not in empty databases; those which the program makes find it. Nor are any put where some have been used: what was
 * written beside those would be taken for theirs.
 */
const isFirst = ({ walled, resume, home }: LaunchSpec<CodexOptions>) =>
  walled === true && resume === undefined && !existsSync(posix.join(home, givenDatabases))

function argumentsOf(spec: LaunchSpec<CodexOptions>, transport: Transport): string[] {
  const more = [...toolArgs(spec), ...modelArgs(spec), ...spec.options.args, ...spec.extraArgs]
  if (transport === 'app-server') return ['app-server', ...more]
  const schema = spec.outputSchema ? ['--output-schema', posix.join(spec.home, schemaFile)] : []
  // A program that goes on with a conversation takes none; their files are named in the prompt.
  const images = spec.resume === undefined ? (spec.images ?? []).map((path) => `--image=${path}`) : []
  const all = [...images, '--json', '--skip-git-repo-check', ...schema, ...more]
  return spec.resume === undefined ? ['exec', ...all, '-'] : ['exec', 'resume', ...all, spec.resume, '-']
}

/** The door's address is known inside the walls only, where it is put in; what is served there is decided about there, and needs no approval. */
const toolArgs = (spec: LaunchSpec<CodexOptions>) =>
  doorServers(spec).flatMap(({ name, path }) => [
    ...['-c', `mcp_servers.${name}.url="{{PAWL_DOOR_URL}}${path}"`],
    ...['-c', `mcp_servers.${name}.bearer_token_env_var="PAWL_DOOR_TOKEN"`],
    ...['-c', `mcp_servers.${name}.default_tools_approval_mode="approve"`],
    // A server of the user's may have to be started first.
    ...(name === 'pawl' ? [] : ['-c', `mcp_servers.${name}.startup_timeout_sec=120`]),
    ...['-c', `mcp_servers.${name}.tool_timeout_sec=${toolTimeoutMs / 1_000}`],
  ])

/** The same is true of a model that is served at the door; elsewhere the address stands in the file alone. */
const modelArgs = ({ baseUrl }: LaunchSpec<CodexOptions>) =>
  baseUrl?.includes('{{PAWL_DOOR_URL}}') ? ['-c', `model_providers.${providerId}.base_url=${quoted(baseUrl)}`] : []

function check(spec: LaunchSpec<CodexOptions>): void {
  checkTools(spec)
  checkRules(spec)
  if (spec.allowedTools?.length) {
    throw new PawlError(
      'unsupported',
      'Codex takes no list of tools that need no permission: the rules of the profile decide that. Leave allowedTools out.',
    )
  }
  if (spec.newSession !== undefined) {
    throw new PawlError('unsupported', 'Codex names its conversations itself; it cannot be given an id for a new one.')
  }
  if (spec.resume !== undefined && !sessionFiles.id.test(spec.resume)) {
    throw invalid(`${JSON.stringify(spec.resume)} is not a conversation of Codex; those are UUIDs.`)
  }
  if ([...spec.options.args, ...spec.extraArgs, spec.workspace, spec.home].some((text) => text.includes('\0'))) {
    throw invalid('An argument for Codex holds a NUL character; remove it.')
  }
  if (spec.model?.includes(':mode=')) {
    throw invalid(`Codex knows no ${JSON.stringify(spec.model)}: how much it thinks is said by the option reasoningEffort.`)
  }
  for (const argument of [...spec.options.args, ...spec.extraArgs]) checkExtra(argument, spec)
}

const takenFlags = [
  ['-s', '--sandbox', '-a', '--ask-for-approval', '--full-auto', '--dangerously-bypass-approvals-and-sandbox'],
  ['--dangerously-bypass-hook-trust', '--yolo', '-C', '--cd', '--listen', '-p', '--profile'],
].flat()
const takenSettings = [
  /^(approval_policy|sandbox_mode|sandbox_workspace_write|projects|model_provider|mcp_servers\.pawl)(\.|$)/,
  /^model_providers\.[^.]+\.(base_url|env_key|auth|http_headers|env_http_headers|query_params|requires_openai_auth)(\.|$)/,
]

/** An extra argument may add, never take the walls, the permissions or the way to the model out of our hands. */
function checkExtra(argument: string, spec: LaunchSpec<CodexOptions>): void {
  const [name = ''] = argument.replace(/^(-c|--config)=?\s*/, '').split('=')
  const isTaken =
    takenFlags.includes(argument.split('=')[0] ?? '') ||
    takenSettings.some((setting) => setting.test(name.trim())) ||
    doorServers(spec).some((server) => name.trim().startsWith(`mcp_servers.${server.name}.`))
  if (isTaken || isAgainstRules(spec, argument, name.trim()))
    throw invalid(`The argument ${name} cannot be given to Codex: Pawl itself decides it. Remove it from the agent's args.`)
}

const isTemporary = (home: string) => /^\/(private\/)?tmp(\/|$)/.test(posix.normalize(home))
