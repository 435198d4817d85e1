import { asObject, type Fields } from '../../domain/base/object.ts'
import { Usage } from '../../domain/money/usage.ts'
import type { AcpError, Habits } from '../acp/habits.ts'
import type { LaunchSpec, Verdict } from '../port.ts'
import { joinedName } from '../shared/door-servers.ts'
import { count, text } from '../shared/fields.ts'
import { cut } from '../shared/text.ts'
import { ownTools } from './permissions.ts'

/** How opencode keeps to the protocol. */
export const habitsFor = (spec: Pick<LaunchSpec, 'resume' | 'servers'>): Habits => ({
  title: 'opencode',
  load: true,
  // They are named in its settings, where it can also be told how long they may take.
  mcpServers: () => [],
  connectsLate: true,
  judge: (error) => judge(error, spec),
  usage,
  tool: (call) => tool(call, spec.servers ?? []),
  // It writes every error a second time, with the request that led to it.
  stderr: (lines) => (/^Error handling request \{/.test(lines) ? '' : lines),
})

const ownFailure = 'opencode failed and does not say why; its log in the home of the session may.'

/** It names a tool by the title of the first word about a call; later ones say what it is about. */
function tool(call: Fields, servers: readonly string[]): { name: string; input: unknown } | undefined {
  const named = text(call.firstTitle) ?? ''
  const name = isOwn(named) ? named : joinedName(named, servers)
  if (name === undefined) return undefined
  const { filepath, ...input } = asObject(call.rawInput) ?? {}
  return { name, input: typeof filepath === 'string' ? { ...input, filePath: filepath } : input }
}

const isOwn = (name: string) => (ownTools as readonly string[]).includes(name)

/** What it tells is what the last call of the turn used. */
function usage(answer: Fields): Usage | undefined {
  const told = asObject(answer.usage)
  if (!told || count(told.outputTokens) === undefined) return undefined
  return Usage.parse({
    inputTokens: count(told.inputTokens) ?? 0,
    outputTokens: (count(told.outputTokens) ?? 0) + (count(told.thoughtTokens) ?? 0),
    cacheReadTokens: count(told.cachedReadTokens) ?? 0,
    cacheWriteTokens: count(told.cachedWriteTokens) ?? 0,
    turns: 1,
  })
}

/** The name of an error is all that it passes on beside the words; the number that the service gave is lost. */
function judge({ message, data }: AcpError, spec: Pick<LaunchSpec, 'resume'>): Pick<Verdict, 'category' | 'message'> | undefined {
  const name = text(asObject(data)?.errorName)
  const said = cut(message.replace(/^Internal error: /, ''), 500)
  if (name === 'ContextOverflowError') return { category: 'context_overflow', message: said }
  if (name === 'ProviderAuthError') return { category: 'auth_failed', message: said }
  // All that it says of a failure of its own, such as a conversation that it does not have.
  if (name === undefined && said === 'OpenCode service failure')
    return { category: spec.resume === undefined ? 'crashed' : 'session_missing', message: ownFailure }
  if (name === 'MessageOutputLengthError') return { category: 'context_overflow', message: said }
  // The rest is guessed from its words.
  return name === undefined ? undefined : { category: undefined, message: said }
}
