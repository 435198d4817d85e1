import { PawlError } from '../../domain/error.ts'
import type { LaunchSpec } from '../port.ts'
import { withRepositoryInstructions } from '../shared/repository.ts'
import { withSkills } from '../shared/skills.ts'
import { isDisabled } from './disabled-tools.ts'
import type { CodexOptions } from './options.ts'
import { consulted } from './rules.ts'

/** One provider id for every way in: the program refuses to go on with a conversation whose provider it does not know. */
export const providerId = 'pawl'
export const ownEndpoint = 'https://api.openai.com/v1'
/** A bit less than our own limit for silence, so that a stalled stream is called what it is. */
const streamIdleMs = 240_000

/**
 * The whole `config.toml`, written anew at every start: whatever an agent wrote there in an earlier run, or the program added by
 * itself (it marks a workspace it may write to as trusted), is gone. Features are set here and not by flags, because a version
 * that does not know a feature refuses the flag but overlooks the line.
 */
export function settings(spec: LaunchSpec<CodexOptions>): string {
  const { options } = spec
  return toml([
    [
      '',
      {
        model: spec.model,
        model_provider: providerId,
        model_reasoning_effort: options.reasoningEffort,
        model_reasoning_summary: options.reasoningSummary,
        web_search: webSearch(spec),
        developer_instructions: instructions(spec),
        sandbox_mode: sandboxMode(spec),
        // The third word, `untrusted`, is refused here and taken in a request.
        approval_policy: approvals(spec) === 'untrusted' ? undefined : approvals(spec),
        check_for_update_on_startup: false,
        suppress_unstable_features_warning: true,
        cli_auth_credentials_store: 'file',
      },
    ],
    [
      'features',
      {
        plugins: false,
        apps: false,
        // Its snapshots hold every exported variable, keys included, and stay behind after a kill.
        shell_snapshot: false,
        // An agent with a goal is sent on by the program itself, turn after turn, when ours is over.
        goals: false,
        // Retries are ours; without this a closed port is tried for ever.
        unbounded_connection_retries: false,
        // Left alone the model may start helpers of its own.
        multi_agent: (spec.subagents && spec.subagents.own !== 'all') || isDisabled(spec, 'Task') ? false : undefined,
        shell_tool: isDisabled(spec, 'shell') ? false : undefined,
        view_image: isDisabled(spec, 'view_image') ? false : undefined,
        image_generation: isDisabled(spec, 'generate_image') ? false : undefined,
        sleep_tool: isDisabled(spec, 'sleep') ? false : undefined,
        // What is typed into a running shell is not asked about; without a terminal nothing can be.
        unified_exec_tty: consulted(spec) === undefined ? undefined : false,
        default_mode_request_user_input: !isDisabled(spec, 'request_user_input'),
        enable_request_compression: spec.baseUrl === undefined ? undefined : false,
      },
    ],
    ['analytics', { enabled: false }],
    // Else it looks for skills in the workspace too, trusted or not. Those that it may have are named in the instructions.
    ['skills', { include_instructions: false }],
    ['skills.bundled', { enabled: false }],
    // Otherwise the repository's own `.codex` runs code: the program trusts any folder it may write to.
    [`projects.${quoted(spec.workspace)}`, { trust_level: 'untrusted' }],
    [`model_providers.${providerId}`, provider(spec)],
    ['shell_environment_policy', spec.access?.kind === 'variable' ? { exclude: [spec.access.name] } : {}],
  ])
}

function webSearch(spec: LaunchSpec<CodexOptions>): 'live' | 'disabled' | undefined {
  const { webSearch } = spec.options
  if (isDisabled(spec, 'web_search')) return 'disabled'
  return webSearch === undefined ? undefined : webSearch ? 'live' : 'disabled'
}

export const sandboxMode = ({ walled }: LaunchSpec<CodexOptions>) => (walled ? 'danger-full-access' : 'workspace-write')

/** By the only policy under which every command and every change of a file comes to us, where the profile's rules are about them. */
export const approvals = (spec: LaunchSpec<CodexOptions>) =>
  consulted(spec) === undefined ? (spec.options.approvals ?? (spec.walled ? 'never' : 'untrusted')) : 'untrusted'

/** An untrusted workspace's AGENTS.md is not read by the program itself. */
const instructions = (spec: LaunchSpec<CodexOptions>) =>
  withRepositoryInstructions(withSkills(spec.systemPrompt, spec.skills), spec)

type Values = Record<string, string | number | boolean | readonly string[] | undefined>

function provider({ access, baseUrl }: LaunchSpec<CodexOptions>): Values {
  if (access?.kind === 'script') {
    throw new PawlError('unsupported', 'Codex takes no key from a script; give the key in a variable or a file instead.')
  }
  const usesLogin = access === undefined ? baseUrl === undefined : access.kind === 'login'
  return {
    // By this name the program knows its maker's own service.
    name: baseUrl === undefined ? 'OpenAI' : 'Pawl',
    // With its own login the program knows the endpoint: it depends on the kind of account.
    base_url: baseUrl ?? (usesLogin ? undefined : ownEndpoint),
    wire_api: 'responses',
    env_key: access?.kind === 'variable' ? access.name : undefined,
    requires_openai_auth: usesLogin ? true : undefined,
    request_max_retries: 0,
    stream_max_retries: 0,
    stream_idle_timeout_ms: streamIdleMs,
  }
}

function toml(tables: readonly (readonly [string, Values])[]): string {
  const lines: string[] = []
  for (const [name, values] of tables) {
    if (name !== '') lines.push('', `[${name}]`)
    for (const [key, value] of Object.entries(values)) {
      if (value !== undefined) lines.push(`${key} = ${tomlValue(value)}`)
    }
  }
  return `${lines.join('\n')}\n`
}

const tomlValue = (value: Exclude<Values[string], undefined>) =>
  typeof value === 'string' ? quoted(value) : typeof value === 'object' ? `[${value.map(quoted).join(', ')}]` : String(value)

/** A JSON string is a TOML string, but for the one control character that JSON leaves as it is. */
export const quoted = (text: string) => JSON.stringify(text.toWellFormed()).replaceAll('\x7f', '\\u007f')
