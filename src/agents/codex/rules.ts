import { PawlError } from '../../domain/error.ts'
import type { LaunchSpec } from '../port.ts'
import { patchTool, shellTool } from './items.ts'
import type { CodexOptions } from './options.ts'
import { chooseTransport, isAtLeast } from './transport.ts'

/** What it offers as of 0.166. It asks about the first two only; the others are there or not. */
export const ownTools = [
  shellTool,
  patchTool,
  'view_image',
  'web_search',
  'generate_image',
  'sleep',
  'Task',
  'request_user_input',
  'update_plan',
] as const
const asked: readonly string[] = [shellTool, patchTool]

/** Before it the program ran commands that only read without a word, and let the agent type into a running shell. */
const firstAsking = [0, 166, 0] as const

type Given = Pick<LaunchSpec<CodexOptions>, 'toolAccess' | 'options' | 'version'>

/** The setting for whose sake every command and every change of a file must come to us; undefined if the profile leaves both free. */
export function consulted({ toolAccess }: Pick<Given, 'toolAccess'>): string | undefined {
  const reasons = asked.map((tool) => toolAccess?.because[tool])
  return reasons.find((reason) => reason && (reason.from.startsWith('rules.') || reason.from === 'otherwise'))?.text
}

/** A tool that the program does not ask about cannot be allowed in part: a rule about it takes it away. */
export const isTakenAway = ({ toolAccess }: Pick<Given, 'toolAccess'>, tool: string) =>
  toolAccess?.absent.includes(tool) === true || (!asked.includes(tool) && toolAccess?.checked.includes(tool) === true)

/** What cannot be held is refused and never overlooked. */
export function checkRules(spec: Given): void {
  const plan = spec.toolAccess?.because.update_plan
  if (plan?.from.startsWith('rules.'))
    throw cannotHold(plan.text, 'it asks nobody before it plans, and its plan cannot be switched off')
  const rule = consulted(spec)
  if (rule === undefined) return
  if (chooseTransport(spec) === 'exec')
    throw cannotHold(rule, 'spoken to by exec it can ask nobody; leave the option transport out, or update it')
  if (spec.version !== undefined && !isAtLeast(spec.version, firstAsking))
    throw cannotHold(rule, `version ${spec.version} does not ask about every command; update it to ${firstAsking.join('.')}`)
  const { approvals } = spec.options
  if (approvals !== undefined && approvals !== 'untrusted')
    throw cannotHold(rule, `with the option approvals: ${approvals} it would not ask; leave the option out`)
}

const cannotHold = (rule: string, why: string) =>
  new PawlError('unsupported', `Codex cannot be held to "${rule}" of the profile: ${why}. Or choose another profile.`)

const taking = [
  /^(features|web_search|tools|experimental_\w+)(\.|$)/,
  /^(mcp_servers)\.[^.]+\.(default_tools_approval_mode|tools)(\.|$)/,
]

/** Would this setting bring back what the rules take away, or let something happen without asking? */
export const isAgainstRules = (spec: Pick<Given, 'toolAccess'>, argument: string, name: string) =>
  Object.keys(spec.toolAccess?.because ?? {}).length > 0 &&
  (/^--(enable|search)\b/.test(argument) || argument.includes('approval_mode') || taking.some((setting) => setting.test(name)))
