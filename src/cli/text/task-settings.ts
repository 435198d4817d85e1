import type { TaskView } from '../../domain/view/view.ts'
import { formatElapsed, formatMoney, formatTaskState, shortId } from './format.ts'
import { oneLine } from './plain.ts'

/** What a task is held to, a line each; only what somebody chose. */
export function settingsLines({ settings, dependsOn }: TaskView): [string, string | undefined][] {
  const { budget, retry, checks, questions, subtasks } = settings
  return [
    [
      'depends on',
      list(dependsOn.map(({ id, name, ...one }) => `${shortId(id)}${name === null ? '' : ` ${name}`} (${formatTaskState(one)})`)),
    ],
    ['model', settings.model === null ? undefined : oneLine(settings.model)],
    ['profile', oneLine(settings.profile)],
    [
      'budget',
      list([
        ...money(budget.usd, ''),
        ...money(budget.perRunUsd, ' a run'),
        ...money(budget.perAgentDayUsd, ' a day of the agent'),
        ...counted(budget.tokens, 'tokens'),
        ...counted(budget.turns, 'turns'),
        ...(budget.wallMs === undefined ? [] : [`${formatElapsed(budget.wallMs)} in all`]),
      ]),
    ],
    ['timeout', settings.timeoutMs === null ? 'none' : formatElapsed(settings.timeoutMs)],
    [
      'tries',
      `${retry.attempts}${retry.backoff === 'linear' ? ', linear backoff' : ''}${settings.once ? ', but run once only' : ''}`,
    ],
    ['folders', list(settings.contextDirs)],
    ['writable', list(settings.writableDirs)],
    ['mounts', list(settings.mounts?.map(mountText))],
    ['allowed', list(settings.allowedTools)],
    ['disallowed', list(settings.disallowedTools)],
    ['role', settings.role],
    ['system', settings.appendSystemPrompt === undefined ? undefined : oneLine(settings.appendSystemPrompt, 100)],
    ['arguments', list(settings.extraArgs)],
    ['failover', list(settings.failover)],
    ['checks', list(checks?.commands.map(({ run, name }) => name ?? run))],
    ['recorded', settings.record ? 'what it asks of models' : undefined],
    ['replay', replayText(settings.replay)],
    ['review', settings.review ? 'a person accepts the work' : undefined],
    ['planning', settings.skipPlanning === undefined ? undefined : settings.skipPlanning ? 'skipped' : 'asked for'],
    [
      'questions',
      questions === undefined
        ? undefined
        : list([
            ...(questions.deadlineMs === undefined
              ? []
              : [`${formatElapsed(questions.deadlineMs)}, then ${questions.afterDeadline.kind}`]),
            ...(questions.mayAnswer === undefined ? [] : [`answered by ${questions.mayAnswer.join(', ')}`]),
          ]),
    ],
    [
      'subtasks',
      subtasks === undefined ? undefined : `at most ${subtasks.most}, ${subtasks.depth} deep, then ${subtasks.whenDone}`,
    ],
  ]
}

const replayText = (replay: TaskView['settings']['replay']) =>
  replay && `of run ${replay.run}${replay.until === undefined ? '' : ` up to call ${replay.until}`}`

const mountText = ({ base, subpath, alias, mode }: NonNullable<TaskView['settings']['mounts']>[number]) =>
  `${alias === undefined ? '' : `${alias}=`}${base}${subpath === undefined ? '' : `/${subpath}`}${mode === 'rw' ? ':rw' : ''}`

const list = (items: readonly string[] | undefined) => (items?.length ? items.map((item) => oneLine(item)).join(', ') : undefined)
const money = (usd: number | undefined, what: string) => (usd === undefined ? [] : [`${formatMoney(usd)}${what}`])
const counted = (count: number | undefined, what: string) => (count === undefined ? [] : [`${count} ${what}`])
