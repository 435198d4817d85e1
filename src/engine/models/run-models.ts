import type { Adapter, ModelUse } from '../../agents/port.ts'
import { accountOf } from '../../domain/agent/account.ts'
import type { ResolvedAgent } from '../../domain/agent/agent-config.ts'
import { findModel, modelNames, recordedName } from '../../domain/agent/models.ts'
import { didYouMean, nearest } from '../../domain/base/nearest.ts'
import type { Secret } from '../../domain/base/secret-names.ts'
import { messageOf, PawlError, unavailable } from '../../domain/error.ts'
import { rightsOf } from '../../domain/profile/resolve.ts'
import type { Provider, Routing } from '../../gateway/base/route.ts'
import type { Recorder } from '../../gateway/recordings/recording.ts'
import type { Gateway, ModelDoor } from '../../gateway/serving/gateway.ts'
import type { TakenRun } from '../../store/runs.ts'
import { findKey } from '../auth/agent-access.ts'
import { loginTexts } from '../auth/lent-login.ts'
import { RunFailure } from '../base/failure.ts'
import { type RunContext, spanned } from '../base/run-context.ts'
import type { RunServices } from '../base/run-services.ts'
import type { Journal } from '../journal/journal.ts'
import type { Meter, Money } from '../money/meter.ts'
import { createPurse } from '../money/purse.ts'
import type { RunReplayed } from '../recordings/replay-run.ts'
import { createLastWord, type LastWord } from './call-facts.ts'
import { keyReader } from './provider-key.ts'
import { createRouting } from './routing.ts'

/** The models of one run, served at its door. */
export interface RunModels {
  /** What the program puts in front of its paths. */
  readonly url: string
  /** The only ones it may ask for; undefined if it may ask for any. */
  readonly served: readonly string[] | undefined
  /** The variable in which the program looks for the key of its format, if that is not the first of those of its login. */
  readonly keyName: string | undefined
  /** Variables of Pawl's own that hold keys of providers. */
  readonly keyVariables: readonly string[]
  /** Opens them at the door of a process with that token. Whoever gives the door away closes it again. */
  open(token: string): ModelDoor
  /** What was last refused, if nothing was served since. */
  readonly refusal: LastWord['refusal']
  /** When there is a program that will call one: what its first call needs is held while it starts. */
  expect(): void
  /** When nothing is served any more: all money is settled. Twice is fine. */
  close(): Promise<void>
}

interface ModelServices
  extends Pick<RunServices, 'db' | 'clock' | 'environment' | 'userHome' | 'secretsFor' | 'gateway' | 'contexts' | 'telemetry'> {
  readonly journal: Pick<Journal, 'transact' | 'flush'>
  readonly money: Money
}

export interface ModelParts {
  readonly adapter: Adapter
  readonly voice: RunContext
  readonly meter: Meter
  readonly recorder?: Recorder | undefined
  readonly replayed?: RunReplayed | undefined
}

/**
 * How a run comes by its model. One that the settings list is served by its provider, whatever the program speaks. Else an agent with a key is served by its own endpoint,
 * with the key kept here. One with its program's own login, or that wants to, goes past the gateway: undefined.
 */
export async function modelsFor(
  taken: TakenRun,
  parts: ModelServices,
  { adapter, voice, meter, recorder, replayed }: ModelParts,
): Promise<RunModels | undefined> {
  const { task } = taken
  const agent = task.agent_config
  const { gateway } = parts
  if (!gateway || agent.gateway === false || !adapter.models) return undefined
  const options = adapter.options.safeParse(agent.options)
  // What is wrong with them is said when the program is to be started.
  if (!options.success) return undefined
  const use = adapter.models(options.data)
  const isListed = agent.model !== undefined && findModel(agent.models, agent.model) !== undefined
  const hide = hider(voice)
  const otherwise = isListed
    ? undefined
    : replayed?.isWhole
      ? use && noProvider(agent, use)
      : await ownProvider(taken, parts, { adapter, use, hide })
  if (!isListed && !otherwise) {
    await assertOfMaker(task, parts, { adapter, voice, isReplay: replayed !== undefined })
    return undefined
  }

  const whom = { agent: task.agent, user: task.user_name }
  const routing = createRouting({
    table: agent.models,
    allowed: [...(agent.model === undefined ? [] : [agent.model]), ...(agent.allowedModels ?? [])],
    fallbackModels: agent.fallbackModels ?? [],
    serverTools: isOpen(agent),
    wire: use?.wire,
    otherwise,
    mostOf: (model) => parts.money.prices.of(model)?.maxOutput,
    keyOf(name, { key }) {
      const read = keyReader(name, key, whom, parts)
      return async () => hide(await read())
    },
  })
  if (isListed && !replayed?.isWhole) await assertKey(routing, agent.model!)
  const replay = replayed?.replay
  return serve(taken, parts, { gateway: await gateway(), voice, meter, routing, use, isListed, recorder, replay })
}

function serve(
  taken: TakenRun,
  parts: ModelServices,
  run: Omit<ModelParts, 'adapter' | 'replayed'> & {
    gateway: Gateway
    routing: Routing
    use: ModelUse | undefined
    isListed: boolean
    replay: RunReplayed['replay'] | undefined
  },
): RunModels {
  const { voice, use } = run
  const { watch, log } = voice
  const lastWord = createLastWord()
  const span = spanned(taken)
  const routing = watched(run.routing, (message) => lastWord.refused({ kind: 'not_found', message }))
  const purse = createPurse({
    ...parts,
    taken,
    record: voice.recordEvent,
    log,
    meter: run.meter,
    onOver: (reason) => watch.stop(reason),
  })
  const providers = Object.values(taken.task.agent_config.models?.providers ?? {})
  return {
    url: `{{PAWL_DOOR_URL}}/model${use?.suffix ?? ''}`,
    served: run.isListed ? routing.models : undefined,
    keyName: use?.keys[0],
    keyVariables: providers.flatMap(({ key }) => (key && 'env' in key ? [key.env] : [])),
    open: (token) =>
      run.gateway.open({
        routing,
        purse,
        token,
        log,
        recorder: run.recorder,
        replay: run.replay,
        refusesForGood: use?.retries,
        contextOf: (call) => parts.contexts?.ofCall(span, call),
        // A provider that sends nothing but signs of life for ever is no work either.
        onAsked: () => ({ piece: () => watch.sign('heartbeat'), over: watch.modelCalled() }),
        onCall(call) {
          // An agent that waits for a slow model is not silent.
          watch.sawEvent()
          lastWord.heard(call)
          parts.telemetry?.call(span, { ...call, asked: recordedName(taken.task.agent_config.model, call.asked) })
        },
      }),
    get refusal() {
      return lastWord.refusal
    },
    expect: () => purse.expect(),
    close: () => purse.close(),
  }
}

/** The endpoint that the agent itself names, or its program's maker. Undefined if there is no key that could be used in the program's place. */
async function ownProvider(
  { task }: TakenRun,
  parts: ModelServices,
  { adapter, use, hide }: { adapter: Adapter; use: ModelUse | undefined; hide: Hider },
): Promise<Provider | undefined> {
  if (!use) return undefined
  const agent = task.agent_config
  const variables = adapter.login?.variables ?? []
  const place = { agent, environment: parts.environment }
  const found = await findKey(place, variables)
  // A plain command may need none; all others without a key have a login.
  if (!found && adapter.login) return undefined
  if (found && variables.includes(found.name) && !use.keys.includes(found.name)) return undefined
  hide(found)
  return {
    name: agent.name,
    wire: use.wire,
    baseUrl: (agent.baseUrl ?? use.endpoint).replace(/\/+$/, ''),
    account: accountOf(agent),
    isFree: use.isFree,
    serverTools: isOpen(agent),
    async key() {
      const now = await findKey(place, variables).catch((error: unknown) => {
        throw unavailable(messageOf(error))
      })
      if (!now && found) throw unavailable(`The key of agent "${agent.name}" is gone from ${found.name}.`)
      return hide(now)
    },
  }
}

/** What a provider fetches for a run is held back where the run itself could not fetch it. */
const isOpen = (agent: ResolvedAgent) => {
  const { walls, network } = rightsOf(agent)
  return !walls || (network.allow.includes('*') && network.deny.length === 0)
}

/** Who misspells a listed model hears of that, and not that the program must be logged in. Any other one is the maker's to know. */
async function assertOfMaker(
  { agent_config: agent }: TakenRun['task'],
  { environment, userHome }: ModelServices,
  { adapter: { login }, voice, isReplay }: { adapter: Adapter; voice: RunContext; isReplay: boolean },
): Promise<void> {
  const { name, model, models } = agent
  if (model === undefined || !models || !login) return
  const names = modelNames(models)
  const isNone = `The model "${model}" is none of those that "models:" lists (${names.join(', ')})`
  if (isReplay) throw new RunFailure('bad_config', `${isNone}, and a replay asks no other provider${didYouMean(model, names)}`)
  const isLetIn =
    (await findKey({ agent, environment }, login.variables)) !== undefined || (await loginTexts(login.files, userHome)).length > 0
  if (!isLetIn && nearest(model, names) !== undefined)
    throw new RunFailure('bad_config', `${isNone}, and agent "${name}" has no key and no login${didYouMean(model, names)}`)
  void voice.note('model_not_listed', `${isNone}: the program asks its own maker for it, past the gateway.`)
}

/** A run that is answered from a recording needs nobody who lets it in. */
const noProvider = (agent: ResolvedAgent, { wire, endpoint }: ModelUse): Provider => ({
  name: agent.name,
  wire,
  baseUrl: (agent.baseUrl ?? endpoint).replace(/\/+$/, ''),
  account: accountOf(agent),
  key: async () => undefined,
})

/** What a program asks for in vain is told to whoever reads how the run ended: the program itself may only say that it failed. */
const watched = (routing: Routing, onUnlisted: (message: string) => void): Routing => ({
  ...routing,
  routesOf(model) {
    try {
      return routing.routesOf(model)
    } catch (error) {
      if (error instanceof PawlError) onUnlisted(error.message)
      throw error
    }
  },
})

/** A run whose key is not there is not begun. */
async function assertKey(routing: Routing, model: string): Promise<void> {
  const [route] = routing.routesOf(model)
  await route?.provider.key().catch((error: unknown) => {
    if (error instanceof PawlError && error.code === 'unavailable') throw new RunFailure('auth_failed', error.message)
    throw error
  })
}

type Hider = (key: Secret | undefined) => string | undefined

/** The program never has the key, but a provider may repeat it in an error. */
function hider(voice: RunContext): Hider {
  const hidden = new Set<string>()
  return (key) => {
    if (key && !hidden.has(key.value)) {
      hidden.add(key.value)
      voice.hide([key])
    }
    return key?.value
  }
}
