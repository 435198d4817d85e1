import { asObject, type Fields } from '../../domain/base/object.ts'
import { bridgeSource } from '../../tools/mcp/bridge.ts'
import type { LaunchSpec } from '../port.ts'
import { doorServers } from '../shared/door-servers.ts'
import { list, text } from '../shared/fields.ts'
import type { JsonRpc, Reply, RpcError } from '../shared/json-rpc.ts'
import type { Habits } from './habits.ts'

const protocolVersion = 1
/** What the protocol says of something that is not there. */
const notFound = -32002
/** It is stored with every run. */
const maxIdChars = 1024

/** What a program says it can do. */
export interface Offered {
  readonly load: boolean
  /** Like `load`, without all that was said being told again. */
  readonly resume: boolean
  readonly close: boolean
  readonly http: boolean
  readonly sse: boolean
  /** Takes images with a prompt. */
  readonly images: boolean
  readonly methods: readonly string[]
}

export interface Opened {
  readonly sessionId: string
  readonly isNew: boolean
  readonly model: string | undefined
  readonly images: boolean
}

/** A conversation was opened, or why not: a reply that was no result, or a conversation that cannot be gone on with. */
export type Opening = { readonly opened: Opened } | { readonly failed: Reply } | { readonly missing: string }

/** From the first word to a conversation that waits for its prompt. */
export async function openSession(
  rpc: JsonRpc,
  spec: LaunchSpec,
  habits: Habits,
  loading: (isLoading: boolean) => void,
): Promise<Opening> {
  const hello = await rpc.request('initialize', {
    protocolVersion,
    clientCapabilities: {
      fs: { readTextFile: habits.attended?.files ?? false, writeTextFile: habits.attended?.files ?? false },
      terminal: habits.attended?.terminals ?? false,
      elicitation: { form: {} },
    },
    clientInfo: { name: 'pawl', title: 'Pawl', version: '1' },
  })
  if (!('result' in hello)) return { failed: hello }
  if (hello.result.protocolVersion !== protocolVersion)
    return refused(
      `It speaks version ${JSON.stringify(hello.result.protocolVersion)} of the Agent Client Protocol, and Pawl version 1.`,
    )
  const offered = readOffer(hello.result)
  const method = habits.authenticate?.(spec, offered.methods)
  if (method !== undefined) {
    const entered = await rpc.request('authenticate', { methodId: method })
    if (!('result' in entered)) return { failed: withMethods(entered, offered) }
  }
  const place = { cwd: spec.workspace, mcpServers: mcpServers(spec, habits, offered) }
  if (spec.resume !== undefined) return goOn(spec.resume)
  const meta = habits.meta?.(spec)
  const begun = await rpc.request('session/new', { ...place, ...(meta && { _meta: meta }) })
  if (!('result' in begun)) return { failed: withMethods(begun, offered) }
  const sessionId = text(begun.result.sessionId)
  if (!sessionId || sessionId.length > maxIdChars) return refused('The program did not name its conversation.')
  return settle(sessionId, true, begun.result)

  async function goOn(sessionId: string): Promise<Opening> {
    const way = offered.resume ? 'session/resume' : offered.load ? 'session/load' : undefined
    if (way === undefined || !habits.load)
      return { missing: `${habits.title ?? 'The program'} cannot go on with a conversation of an earlier process.` }
    loading(true)
    const loaded = await rpc.request(way, { sessionId, ...place })
    loading(false)
    if ('error' in loaded && isMissing(loaded.error))
      return { missing: `It does not know the conversation ${sessionId}: ${loaded.error.message}` }
    if (!('result' in loaded)) return { failed: withMethods(loaded, offered) }
    return settle(sessionId, false, loaded.result)
  }

  async function settle(sessionId: string, isNew: boolean, state: Fields): Promise<Opening> {
    const chosen = await choose(rpc, sessionId, state, {
      mode: habits.mode?.(spec, modesOf(state)),
      model: habits.model?.(spec),
    })
    if (chosen && !('result' in chosen)) return { failed: chosen }
    return { opened: { sessionId, isNew, model: habits.model?.(spec) ?? spec.model, images: offered.images } }
  }
}

const refused = (message: string): Opening => ({ failed: { error: { code: 0, message } } })

function readOffer(result: Fields): Offered {
  const can = asObject(result.agentCapabilities) ?? {}
  const session = asObject(can.sessionCapabilities) ?? {}
  const mcp = asObject(can.mcpCapabilities) ?? {}
  return {
    load: can.loadSession === true,
    resume: asObject(session.resume) !== undefined,
    close: asObject(session.close) !== undefined,
    http: mcp.http === true,
    sse: mcp.sse === true,
    images: asObject(can.promptCapabilities)?.image === true,
    methods: list(result.authMethods).flatMap((method) => text(asObject(method)?.id) ?? []),
  }
}

/** Programs have no one code for it, so their words count as well. */
const isMissing = ({ code, message, data }: RpcError) =>
  code === notFound ||
  /not found|no (?:such )?(?:session|conversation|rollout)|unknown session|does not exist|invalid session/i.test(
    `${message} ${text(asObject(data)?.details) ?? text(data) ?? ''}`,
  )

/** Who is not let in should know how. */
function withMethods(reply: Reply, { methods }: Offered): Reply {
  if (!('error' in reply) || reply.error.code !== -32000 || methods.length === 0) return reply
  return { error: { ...reply.error, message: `${reply.error.message} (it lets in by: ${methods.join(', ')})` } }
}

/** Ours over HTTP where the program can, else by a command, which all of them can. */
function mcpServers(spec: LaunchSpec, habits: Habits, offered: Offered): readonly Fields[] {
  if (habits.mcpServers) return habits.mcpServers(spec, offered)
  if (!spec.tools || !spec.door) return []
  const { url, token } = spec.door
  const headers = [{ name: 'Authorization', value: `Bearer ${token}` }]
  if (offered.http) return doorServers(spec).map(({ name, path }) => ({ type: 'http', name, url: `${url}${path}`, headers }))
  return doorServers(spec).map(({ name, path }) => {
    const env = [
      { name: 'PAWL_DOOR_URL', value: url },
      { name: 'PAWL_DOOR_TOKEN', value: token },
      ...(name === 'pawl' ? [] : [{ name: 'PAWL_DOOR_PATH', value: path }]),
    ]
    return { name, command: process.execPath, args: ['-e', bridgeSource], env }
  })
}

/** The modes by which the program can be told how to work: as such, or as one of its settings. */
export const modesOf = (state: Fields): string[] =>
  asObject(state.modes)
    ? list(asObject(state.modes)?.availableModes).flatMap((mode) => text(asObject(mode)?.id) ?? [])
    : valuesOf(settingFor(state, 'mode'))

async function choose(
  rpc: JsonRpc,
  sessionId: string,
  state: Fields,
  wanted: { readonly mode: string | undefined; readonly model: string | undefined },
): Promise<Reply | undefined> {
  const { mode, model } = wanted
  if (mode !== undefined && mode !== currentOf(state, 'mode')) {
    const set = asObject(state.modes)
      ? await rpc.request('session/set_mode', { sessionId, modeId: mode })
      : await rpc.request('session/set_config_option', { sessionId, configId: idOf(state, 'mode'), value: mode })
    if (!('result' in set)) return set
  }
  if (model === undefined || model === currentOf(state, 'model')) return undefined
  return settingFor(state, 'model') || !asObject(state.models)
    ? rpc.request('session/set_config_option', { sessionId, configId: idOf(state, 'model'), value: model })
    : rpc.request('session/set_model', { sessionId, modelId: model })
}

type Setting = 'mode' | 'model'

const settingFor = (state: Fields, what: Setting): Fields | undefined => {
  const all = list(state.configOptions).map(asObject)
  return all.find((option) => option?.category === what) ?? all.find((option) => option?.id === what)
}
const idOf = (state: Fields, what: Setting) => text(settingFor(state, what)?.id) ?? what
const currentOf = (state: Fields, what: Setting): string | undefined =>
  what === 'mode' && asObject(state.modes)
    ? text(asObject(state.modes)?.currentModeId)
    : (text(settingFor(state, what)?.currentValue) ?? text(asObject(state.models)?.currentModelId))

/** Its values, which may stand in groups. */
const valuesOf = (setting: Fields | undefined): string[] =>
  list(setting?.options).flatMap((option) => {
    const inGroup = list(asObject(option)?.options)
    return inGroup.length > 0 ? inGroup.flatMap((one) => text(asObject(one)?.value) ?? []) : (text(asObject(option)?.value) ?? [])
  })
