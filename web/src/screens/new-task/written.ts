import { parseDuration } from '../../../../src/domain/base/duration.ts'
import type { UploadView } from '../../../../src/domain/files/view.ts'
import type { NewSchedule } from '../../../../src/domain/schedule/schedule.ts'
import { priorities, type workspaceModes } from '../../../../src/domain/task/task.ts'
import type { NewTask } from '../../../../src/domain/view/view.ts'

/** What stands in the fields, as text: what it means is decided when it is sent. */
export interface Written {
  readonly prompt: string
  readonly name: string
  readonly agent: string
  readonly workspace: string
  readonly allowHome: boolean
  readonly workspaceMode: '' | (typeof workspaceModes)[number]
  readonly bringBack: boolean
  readonly profile: string
  readonly model: string
  readonly budget: string
  readonly timeout: string
  readonly checks: string
  readonly checkAttempts: string
  readonly tags: string
  readonly priority: 'high' | 'normal' | 'low'
  readonly review: boolean
  readonly dependsOn: readonly { readonly id: string; readonly title: string }[]
  /** Ids that are not known yet, or not at all. */
  readonly waitsFor: string
  readonly acceptPartial: boolean
  readonly answerWithin: string
  readonly unanswered: 'deny' | 'fail' | 'proceed'
  readonly proceedWith: string
  readonly template: string
  readonly context: string
  /** Handed in already; a schedule has none. */
  readonly files: readonly UploadView[]
  /** Empty for a task that is done once, now. */
  readonly when: '' | 'cron' | 'every' | 'at'
  readonly whenText: string
  readonly timeZone: string
  readonly scheduleName: string
  readonly keepSession: boolean
  readonly overlap: NewSchedule['overlap']
}

export type Change = (fields: Partial<Written>) => void

export const nothing: Written = {
  prompt: '',
  name: '',
  agent: '',
  workspace: '',
  allowHome: false,
  workspaceMode: '',
  bringBack: false,
  profile: '',
  model: '',
  budget: '',
  timeout: '',
  checks: '',
  checkAttempts: '',
  tags: '',
  priority: 'normal',
  review: false,
  dependsOn: [],
  waitsFor: '',
  acceptPartial: false,
  answerWithin: '',
  unanswered: 'deny',
  proceedWith: '',
  template: '',
  context: '',
  files: [],
  when: '',
  whenText: '',
  timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
  scheduleName: '',
  keepSession: false,
  overlap: 'skip',
}

/** What is written is kept while the page is away: nobody writes a long prompt twice. */
const place = 'pawl-new-task'
export function draft(): Written {
  try {
    return { ...nothing, ...(JSON.parse(localStorage.getItem(place) ?? '{}') as Partial<Written>) }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return nothing
  }
}
export const keepDraft = (written: Written) => localStorage.setItem(place, JSON.stringify(written))
export const dropDraft = () => localStorage.removeItem(place)

const given = (text: string) => (text.trim() === '' ? undefined : text.trim())
const words = (text: string) => text.split(/[\s,]+/).filter((word) => word !== '')
const lines = (text: string) =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')

/** What cannot even be sent; undefined if all can. */
export function faultIn({ timeout, answerWithin, whenText, when }: Written): string | undefined {
  if (given(timeout) && parseDuration(timeout) === undefined) return `“${timeout}” is no time; write 90s, 30m or 2h.`
  if (given(answerWithin) && !parseDuration(answerWithin)) return `“${answerWithin}” is no time; write 30m, 2h or 3d.`
  if (when !== '' && !given(whenText)) return 'Say when it is to come again.'
  return undefined
}

/** The request that the form stands for; what is left empty is left to the settings. */
export function requested(written: Written): NewTask {
  const commands = lines(written.checks)
  const attempts = Number(given(written.checkAttempts) ?? 0)
  const deadlineMs = parseDuration(written.answerWithin)
  const before = [...written.dependsOn.map(({ id }) => id), ...words(written.waitsFor)]
  return {
    prompt: written.prompt,
    name: given(written.name),
    agent: given(written.agent),
    workspace: given(written.workspace),
    allowHome: (given(written.workspace) !== undefined && written.allowHome) || undefined,
    workspaceMode: written.workspaceMode || undefined,
    bringBack: written.workspaceMode === 'clone' && written.bringBack ? 'branch' : undefined,
    profile: given(written.profile),
    model: given(written.model),
    tags: words(written.tags).length > 0 ? words(written.tags) : undefined,
    priority: priorities[written.priority],
    budget: given(written.budget) === undefined ? undefined : { usd: Number(written.budget) },
    timeoutMs: given(written.timeout) === undefined ? undefined : parseDuration(written.timeout),
    review: written.review || undefined,
    checks: commands.length > 0 ? { commands: commands.map((run) => ({ run })), attempts } : undefined,
    ...(written.when === '' && before.length > 0 ? { dependsOn: before, acceptPartial: written.acceptPartial || undefined } : {}),
    questions: deadlineMs ? { deadlineMs, afterDeadline: afterDeadline(written) } : undefined,
    template: given(written.template),
    attachments: written.when === '' && written.files.length > 0 ? written.files.map(({ id }) => id) : undefined,
    context: given(written.template) === undefined ? undefined : given(written.context),
  }
}

function afterDeadline({ unanswered, proceedWith }: Written): NonNullable<NewTask['questions']>['afterDeadline'] {
  return unanswered === 'proceed' ? { kind: 'proceed', answer: given(proceedWith) ?? 'Go on.' } : { kind: unanswered }
}

/** When it comes again, in the words that the daemon reads. */
export const whenWritten = ({ when, whenText }: Written): string => (when === 'cron' ? whenText : `${when} ${whenText}`).trim()

/** A proposal, or any other request, in the fields of the form. */
export function writtenFrom(task: NewTask, before: Written): Written {
  const priority = (Object.entries(priorities) as [Written['priority'], number][]).find(([, level]) => level === task.priority)
  return {
    ...before,
    prompt: task.prompt,
    name: task.name ?? before.name,
    workspace: task.workspace ?? before.workspace,
    tags: task.tags?.join(' ') ?? before.tags,
    checks: task.checks?.commands.map(({ run }) => run).join('\n') ?? before.checks,
    review: task.review ?? before.review,
    priority: priority?.[0] ?? before.priority,
  }
}
