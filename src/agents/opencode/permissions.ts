import { PawlError } from '../../domain/error.ts'
import { compileGlob } from '../../domain/rule/glob.ts'
import { isSameTool } from '../../domain/rule/tools.ts'
import type { LaunchSpec } from '../port.ts'
import type { OpencodeOptions } from './options.ts'
import { chooseTransport } from './versions.ts'

/** Those of 1.18.33. `question` is not among them: over the protocol it is not offered. */
export const ownTools = [
  ...['bash', 'edit', 'write', 'apply_patch', 'read', 'list', 'glob', 'grep', 'lsp'],
  ...['webfetch', 'websearch', 'task', 'skill', 'todowrite'],
] as const

/** What the program itself has one permission for: whoever may do one of them may do all. */
const permissionOf = (tool: string) => (['edit', 'write', 'apply_patch'].includes(tool) ? 'edit' : tool)

export type Access = 'allow' | 'ask' | 'deny'
type Given = Pick<
  LaunchSpec<OpencodeOptions>,
  | 'toolAccess'
  | 'native'
  | 'disabledTools'
  | 'disallowedTools'
  | 'allowedTools'
  | 'walled'
  | 'skills'
  | 'subagents'
  | 'options'
  | 'version'
  | 'servers'
>

/**
 * What the program may do unasked, what it asks us about, and what the model is not even told of. The last rule that fits counts, so what is about all comes first.
 */
export function permissions(spec: Given): Record<string, Access> {
  const all: Record<string, Access> = {}
  for (const tool of ownTools) {
    const name = permissionOf(tool)
    all[name] = stricter(all[name] ?? 'allow', accessOf(spec, tool))
  }
  return {
    '*': spec.native === false ? 'deny' : 'ask',
    ...all,
    // Inside walls that hold there is nothing outside the workspace that it must not touch.
    external_directory: spec.walled ? 'allow' : 'ask',
    // That it does the same again and again is for the limits of the run to end.
    doom_loop: 'allow',
    question: 'deny',
    plan_enter: 'deny',
    plan_exit: 'deny',
    // What is served at the door is decided about there.
    'pawl_*': 'allow',
    ...Object.fromEntries((spec.servers ?? []).map((name) => [`${name}_*`, 'allow' as const])),
  }
}

function accessOf(spec: Given, tool: string): Access {
  const { toolAccess, native, disabledTools = [], disallowedTools = [], skills, subagents, walled } = spec
  const isNamed = (other: string) => (other.includes('*') ? compileGlob(other).matches(tool) : isSameTool(tool, other))
  if (native === false || [...disabledTools, ...disallowedTools].some(isNamed)) return 'deny'
  // Skills that a profile gives are named in the instructions; its own are not among them.
  if (tool === 'skill' && skills && !skills.own) return 'deny'
  if (tool === 'task' && subagents && subagents.own !== 'all') return 'deny'
  if (!toolAccess) return walled ? 'allow' : 'ask'
  if (toolAccess.absent.includes(tool)) return 'deny'
  return toolAccess.free.includes(tool) ? 'allow' : 'ask'
}

const order: readonly Access[] = ['allow', 'ask', 'deny']
const stricter = (one: Access, other: Access): Access => (order.indexOf(one) > order.indexOf(other) ? one : other)

/** What cannot be held is refused and never overlooked. */
export function checkPermissions(spec: Given): void {
  if (spec.allowedTools?.length)
    throw new PawlError(
      'unsupported',
      'opencode takes no list of tools that need no permission: the rules of the profile decide that. Leave allowedTools out.',
    )
  const narrowed = spec.disallowedTools?.find((rule) => rule.includes('('))
  if (narrowed !== undefined)
    throw new PawlError(
      'unsupported',
      `opencode can be kept from a whole tool only, not from "${narrowed}"; name the tool alone.`,
    )
  const checked = spec.toolAccess?.checked[0]
  if (checked === undefined || chooseTransport(spec) === 'acp') return
  const rule = spec.toolAccess?.because[checked]?.text ?? checked
  throw new PawlError(
    'unsupported',
    `opencode cannot be held to "${rule}" of the profile: spoken to by run it can ask nobody; leave the option transport out, or update it. Or choose another profile.`,
  )
}
