import { invalid, PawlError } from '../../domain/error.ts'
import type { LaunchSpec } from '../port.ts'
import { doorServers, toolTimeoutMs } from '../shared/door-servers.ts'
import type { OpencodeOptions } from './options.ts'
import { permissions } from './permissions.ts'
import { chooseTransport } from './versions.ts'

/** One provider for every way in, so that a conversation finds its model wherever it goes on. */
export const providerId = 'pawl'

interface Wire {
  /** Which of the libraries that the program brings speaks it. */
  readonly npm: string
  readonly endpoint: string
  /** What the library wants behind an address of this format that has it not. */
  readonly version: string
  readonly key: string
}
export const wires: Readonly<Record<OpencodeOptions['wire'], Wire>> = {
  'openai-chat': { npm: '@ai-sdk/openai-compatible', endpoint: 'https://api.openai.com/v1', version: '', key: 'OPENAI_API_KEY' },
  anthropic: { npm: '@ai-sdk/anthropic', endpoint: 'https://api.anthropic.com', version: '/v1', key: 'ANTHROPIC_API_KEY' },
}

/** All settings of one start. They are given in a variable, which wins over every file that an agent could have written. */
export function settings(spec: LaunchSpec<OpencodeOptions>, instructions: readonly string[]): Record<string, unknown> {
  const { options, tools } = spec
  const model = `${providerId}/${modelOf(spec)}`
  const permission = permissions(spec)
  return {
    model,
    small_model: model,
    default_agent: 'build',
    enabled_providers: [providerId],
    provider: { [providerId]: provider(spec) },
    permission,
    agent: {
      // What a file says of this agent would else outrank what is said of all.
      build: { permission, model },
      // It would ask the model for a title of each conversation, which nobody reads and somebody pays.
      title: { disable: true },
    },
    ...(instructions.length > 0 && { instructions }),
    ...(tools && { mcp: Object.fromEntries(doorServers(spec).map(({ name, path }) => [name, door(path)])) }),
    experimental: {
      // By itself it ends its turn without a word when something is denied.
      continue_loop_on_deny: chooseTransport(spec) === 'acp',
      mcp_timeout: toolTimeoutMs,
    },
    compaction: { auto: options.contextTokens !== undefined },
    autoupdate: false,
    share: 'disabled',
    // They would be a second history of the workspace in the session's home.
    snapshot: false,
    lsp: false,
    formatter: false,
  }
}

const door = (path: string) => ({
  type: 'remote',
  url: `{{PAWL_DOOR_URL}}${path}`,
  // The program itself puts the variable in, so that the token stands in no setting.
  headers: { Authorization: 'Bearer {env:PAWL_DOOR_TOKEN}' },
  oauth: false,
  timeout: toolTimeoutMs,
})

function modelOf({ model, servedModels }: LaunchSpec<OpencodeOptions>): string {
  const name = model ?? servedModels?.[0]
  if (name === undefined || name === '')
    throw invalid('opencode must be told which model to use: set "model:" of the agent, or give the task one.')
  if (name.includes(':mode=')) throw invalid(`opencode knows no ${JSON.stringify(name)}: name the model alone.`)
  return name
}

function provider(spec: LaunchSpec<OpencodeOptions>): Record<string, unknown> {
  const { access, baseUrl, options, servedModels = [] } = spec
  if (access?.kind === 'script' || access?.kind === 'login')
    throw new PawlError(
      'unsupported',
      `opencode is let in by a key only: give it in ${wires[options.wire].key}, by auth.file, or list its model under "models:".`,
    )
  const { contextTokens, outputTokens } = options
  const limit = { context: contextTokens ?? 0, output: outputTokens ?? 0 }
  const facts = contextTokens === undefined && outputTokens === undefined ? {} : { limit }
  const { npm, endpoint, version, key } = wires[options.wire]
  const address = (baseUrl ?? endpoint).replace(/\/+$/, '')
  return {
    npm,
    name: 'Pawl',
    options: {
      baseURL: address.endsWith(version) ? address : `${address}${version}`,
      ...(access?.kind !== 'none' && { apiKey: `{env:${access?.name ?? key}}` }),
    },
    models: Object.fromEntries([modelOf(spec), ...servedModels].map((name) => [name, { name, ...facts }])),
  }
}
