import { createHash } from 'node:crypto'
import type { Permission, PermissionRequest } from '../../agents/port.ts'
import { canonicalJson } from '../../domain/base/canonical-json.ts'
import { type Decision, decide, whatIsAllowed } from '../../domain/profile/decide.ts'
import type { Profile } from '../../domain/profile/profile.ts'
import type { ExactCall, QuestionAsked } from '../../domain/question/question.ts'
import { partsOf } from '../../domain/rule/parts.ts'
import { toolFacts, toolNamed } from '../../domain/rule/tools.ts'
import { choices } from '../questions/permission-answers.ts'
import { exactCall } from './exact-call.ts'
import type { Grants } from './grants.ts'
import { policySentence, type WallsInForce } from './sandbox-policy.ts'

/** May the agent of one run do this? Belongs to that run alone: two runs never share what they counted or were answered. */
export interface Permissions {
  /** What the program asks before it calls a tool. */
  permit(request: PermissionRequest): Promise<Permission>
  /** What our own tools ask when they are called: a program may or may not have asked before. A yes of a person counts for the call, not for each asking. */
  admit(request: PermissionRequest): Promise<Permission>
  /** How often a call was refused so far, questions not counted. */
  readonly denials: number
}

export interface PermissionParts {
  readonly profile: Profile
  /** As the agent sees it. */
  readonly workspace: string
  readonly walls: WallsInForce
  /** What people have decided about calls of the task. */
  readonly grants: Grants
  /** Stores a question about this very call. Resolves with its answer if that comes while somebody watches; else the run ends as `blocked`, and the next one brings it. */
  readonly ask: (question: QuestionAsked, call: ExactCall) => Promise<readonly string[] | undefined>
  /** What is told of a call has no secrets in it. */
  readonly redact: (text: string) => string
  readonly record: (event: PermissionDecided) => Promise<void> | void | undefined
  /** Ends the run with the outcome `denied` and this sentence. */
  readonly interrupt: (message: string) => void
}

/** A refusal, or a yes of a person. What a rule allows is not told: the call itself is in the journal. */
export interface PermissionDecided {
  readonly type: 'permission.decided'
  readonly data: {
    readonly verdict: 'allowed' | 'denied'
    readonly tool: string
    readonly call: string
    readonly rule?: string | undefined
    /** The setting that decides, or `answer`. */
    readonly from: string
    readonly why: string
  }
}

const mostOfOneTool = 3
const mostInAll = 6

export function createPermissions(parts: PermissionParts): Permissions {
  const { profile, workspace } = parts
  const refused = new Map<string, number>()
  /** Calls that a person allowed and that have not come yet. */
  const awaited = new Map<string, number>()
  let denials = 0

  const withPolicy = (request: PermissionRequest, text: string): Extract<Permission, { allow: false }> => {
    const policy = policySentence(request.tool, parts)
    return { allow: false, message: policy === undefined ? text : `${text} ${policy}` }
  }

  const record = (request: PermissionRequest, verdict: PermissionDecided['data']['verdict'], { rule, from, why }: Reason) => {
    const call = callText(request, workspace).slice(0, 1_000)
    return parts.record({ type: 'permission.decided', data: { verdict, tool: request.tool, call, rule, from, why } })
  }

  /** Says what, why, what else is possible, and what comes of asking again and again. */
  async function deny(request: PermissionRequest, reason: Reason): Promise<Permission> {
    const tool = nameOf(request)
    const ofTool = (refused.get(tool) ?? 0) + 1
    refused.set(tool, ofTool)
    denials++
    await record(request, 'denied', reason)
    const { why } = reason
    if (ofTool >= mostOfOneTool || denials >= mostInAll) {
      const count = ofTool >= mostOfOneTool ? `${ofTool} calls of ${tool}` : `${denials} calls`
      const last = callText(request, workspace).slice(0, 1_000)
      parts.interrupt(
        parts.redact(
          `The agent was refused ${count} under the profile "${profile.name}". The last one: ${last}. ${why} ${whatIsAllowed(profile, request.tool)}`,
        ),
      )
      return withPolicy(
        request,
        `Denied, and the run ends here: ${count} were refused. ${why} ${whatIsAllowed(profile, request.tool)}`,
      )
    }
    const isLast = ofTool === mostOfOneTool - 1 || denials === mostInAll - 1
    const warning = isLast ? ' One more refused call ends the run: go another way, or stop and say what you need.' : ''
    return withPolicy(request, `Denied: ${why} ${whatIsAllowed(profile, request.tool)}${warning}`)
  }

  async function ask(request: PermissionRequest, decision: Decision): Promise<Permission> {
    const call = exactCall(request)
    const known = (await parts.grants.use(call)) ?? (await askNow(request, decision, call))
    if (!known) return { ...withPolicy(request, waiting), asked: true }
    const said = known.said === undefined ? '.' : `: ${known.said}`
    if (!known.allow) return deny(request, { from: 'answer', why: `A person said no to this${said}` })
    await record(request, 'allowed', { from: 'answer', why: 'A person allowed this.' })
    return { allow: true }
  }

  /** An answer that comes at once is taken like one that comes later: by the grant that was stored with it. */
  async function askNow(request: PermissionRequest, decision: Decision, call: ExactCall) {
    const answers = await parts.ask(questionAbout(request, decision, parts), call)
    return answers && parts.grants.use(call)
  }

  async function decideOn(request: PermissionRequest, isCalled: boolean): Promise<Permission> {
    const decision = decide(profile, request, { workspace })
    if (decision.verdict === 'allow') return { allow: true }
    if (decision.verdict === 'deny') return deny(request, decision)
    const call = `${callText(request, workspace)} ${restDigest(request)}`
    const expected = awaited.get(call) ?? 0
    if (isCalled && expected > 0) {
      awaited.set(call, expected - 1)
      return { allow: true }
    }
    const permission = await ask(request, decision)
    if (permission.allow && !isCalled) awaited.set(call, (awaited.get(call) ?? 0) + 1)
    return permission
  }

  return {
    permit: (request) => decideOn(request, false),
    admit: (request) => decideOn(request, true),
    get denials() {
      return denials
    },
  }
}

interface Reason {
  readonly rule?: string | undefined
  readonly from: string
  readonly why: string
}

const waiting =
  'This needs the permission of a person, who was asked. Stop here and do nothing more: the answer comes as the next message of the user, and then the same call is decided by it.'

/** The tool as it is counted: under every name that a program has for it. */
const nameOf = ({ tool }: PermissionRequest) => toolNamed(tool).name

const longestShown = 4_000

function questionAbout(request: PermissionRequest, { why }: Decision, { profile, workspace }: PermissionParts): QuestionAsked {
  const text = `May the agent do this? (profile "${profile.name}")\n\n${callText(request, workspace)}\n\n${why.slice(0, 1_000)}`
  return { kind: 'permission', text, options: [...choices] }
}

/** What rules look at, which is what a person decides about: the command, the paths, the address, or all of it. */
function callText(request: PermissionRequest, workspace: string): string {
  const tool = nameOf(request)
  const command = (request.input as { command?: unknown } | null)?.command
  const parts = partsOf(request, { workspace }).map((part) => part.text)
  const isReadable = parts.every((text) => text !== undefined)
  const whole =
    tool === 'Bash' && typeof command === 'string'
      ? `${command}${elsewhere(request.input, workspace)}`
      : isReadable
        ? parts.join(', ')
        : canonicalJson(request.input ?? {})
  // Two long calls that begin alike must not be taken for one another, and nobody must think that they have seen all of one.
  const digest = () => createHash('sha256').update(whole).digest('hex')
  return whole.length > longestShown
    ? `${tool}(${whole.slice(0, longestShown)}…) [${whole.length - longestShown} more characters are not shown; sha256 ${digest()}]`
    : `${tool}(${whole})`
}

/**
 * Of what a call does beyond what is shown of it: another content for the same path is another call. Paths are left out, as our tools name them whole; and of a command
 * nothing is left that our own tool would do with.
 */
function restDigest(request: PermissionRequest): string {
  const tool = nameOf(request)
  if (tool === 'Bash') return ''
  const shown: readonly string[] = toolFacts(tool)?.fields ?? []
  const input = Object.entries(request.input ?? {}).filter(([field]) => !shown.includes(field))
  return exactCall({ ...request, input: Object.fromEntries(input) }).inputDigest
}

/** The same command does something else in another folder. */
function elsewhere(input: unknown, workspace: string): string {
  const { cwd } = input as { cwd?: unknown }
  return typeof cwd === 'string' && cwd !== workspace ? ` [in the folder ${cwd}]` : ''
}
