import { dirname, resolve } from 'node:path'
import { faultsOf } from '../config/problems.ts'
import { didYouMean } from '../domain/base/nearest.ts'
import { isObject } from '../domain/base/object.ts'
import { invalid, PawlError } from '../domain/error.ts'
import { NewTasks } from '../domain/view/view.ts'
import { blocks, camel, type Field, inBlock, inTask, maps, refused, WrongValue, wholeChecks } from './fields.ts'
import { scheduleOf, type WrittenSchedule } from './schedule.ts'
import { type Path, readSource, tasksIn, type Written } from './source.ts'

export interface TaskFile {
  readonly tasks: NewTasks['tasks']
  /** Of each task in its place: when it comes again, if it is to. */
  readonly schedules: readonly (WrittenSchedule | undefined)[]
  /** Of each task in its place: the files that it is given. */
  readonly attachments: readonly (readonly string[])[]
  /** For a key that is derived from it. */
  readonly source: string
}

/** The tasks of a file, checked as far as that is possible without the engine. Paths in it are relative to its folder. All that is wrong with it is said at once. */
export async function readTaskFile(cwd: string, named: string): Promise<TaskFile> {
  const file = resolve(cwd, named)
  return readTaskText(await readSource(file, named), { shown: named, folder: dirname(file) })
}

/** The same from a text; problems name lines of what is shown. */
export function readTaskText(source: string, { shown, folder }: { shown: string; folder: string }): TaskFile {
  const problems: string[] = []
  const drafts = tasksIn(source, shown).map((written) => draftOf(written, problems))
  const schedules = drafts.map((draft) => takeSchedule(draft, problems))
  const attachments = drafts.map((draft, i) =>
    takeAttachments(draft, { folder, isScheduled: schedules[i] !== undefined, problems }),
  )
  byOwnNames(drafts)
  const tasks = drafts.map(({ task }) => withPaths(task, folder))
  const read = NewTasks.safeParse({ tasks })
  if (!read.success)
    for (const fault of faultsOf(read.error.issues, { tasks }, () => [])) {
      const [, index, ...path] = fault.path
      const draft = drafts[Number(index)]
      const from = draft && originOf(draft, path)
      // A wrong value was told already where it was read.
      if (!draft || !problems.some((told) => told.startsWith(`${draft.where(from ?? [])} `)))
        problems.push(`${draft?.where(from ?? []) ?? shown} ${fault.sentence('', from?.length ? from : path)}`)
    }
  if (problems.length > 0)
    throw invalid(
      problems.length === 1
        ? problems[0]!
        : `${problems.length} things are wrong:\n${problems.map((problem) => `  ${problem}`).join('\n')}`,
      { problems },
    )
  if (!read.success) throw new PawlError('internal', 'The task file was refused without a reason.')
  return { tasks: read.data.tasks, schedules, attachments, source }
}

interface Draft extends Pick<Written, 'where'> {
  readonly task: Record<string, unknown>
  /** Where in the file each part of the request comes from. */
  readonly origins: Map<string, Path>
}

function draftOf(written: Written, problems: string[]): Draft {
  const { value, where } = written
  const draft: Draft = { task: {}, origins: new Map(), where }
  if (!isObject(value)) {
    problems.push(`${where([])} A task must be a map of keys and values.`)
    return draft
  }
  let isClaudomator = false
  const take = (
    map: Record<string, unknown>,
    fields: Readonly<Record<string, Field>>,
    at: Path,
    into: readonly string[] = [],
  ) => {
    for (const [key, inner] of Object.entries(map)) {
      const name = camel(key)
      const path = [...at, key]
      const block = at.length === 0 ? blocks.find((one) => one === name) : undefined
      const isNamed = block !== undefined && block !== 'agent'
      if (isNamed) put(draft, ['agent'], block, path)
      if (block && isObject(inner)) {
        isClaudomator = true
        take(inner, inBlock, path)
        continue
      }
      if (isNamed) {
        problems.push(`${where(path)} "${key}" must be a map, such as ${key}: {instructions: …}.`)
        continue
      }
      const field = block ? { to: ['agent'] } : fields[name]
      if (!field) {
        const hint = refused[name]
        const known = [...Object.keys(fields), ...(at.length === 0 ? blocks : [])]
        problems.push(
          hint ? `${where(path)} "${key}" ${hint}.` : `${where(path)} "${key}" is not known here${didYouMean(name, known)}`,
        )
        continue
      }
      const inside = at.length === 0 ? maps[name] : undefined
      if (inside && isObject(inner)) take(inner, inside, path, field.to)
      else put(draft, [...into, ...field.to], readValue(name, field, inner, where(path), problems), path)
    }
  }
  take(value, inTask, [])
  if (isClaudomator) asClaudomator(draft)
  const { description, ...task } = draft.task
  if (typeof description === 'string')
    return { ...draft, task: { ...task, prompt: [description, task.prompt].filter((part) => part !== undefined).join('\n\n') } }
  return draft
}

/** What holds for a task with a block about its agent where it says nothing: it is asked to plan, and Bash, by which subtasks are made there, is at hand. */
function asClaudomator({ task, origins }: Draft): void {
  const { permissionMode: profile, allowedTools: allowed, disallowedTools: disallowed } = task
  delete task.permissionMode
  if (profile !== undefined && task.profile === undefined) {
    task.profile = profile
    origins.set('profile', origins.get('permissionMode') ?? [])
  }
  // Subtasks are worked on between two runs, and a task that may run once has no second one.
  task.skipPlanning ??= task.once === true
  const isTaken = Array.isArray(disallowed) && disallowed.includes('Bash')
  if (task.skipPlanning === false && Array.isArray(allowed) && allowed.length > 0 && !allowed.includes('Bash') && !isTaken)
    task.allowedTools = [...allowed, 'Bash']
}

/** A schedule is no part of the task that it makes. */
function takeSchedule({ task, origins, where }: Draft, problems: string[]): WrittenSchedule | undefined {
  const { schedule } = task
  delete task.schedule
  if (schedule === undefined) return undefined
  const from = where(origins.get('schedule') ?? [])
  return readValue('schedule', { to: [], read: scheduleOf }, schedule, from, problems) as WrittenSchedule | undefined
}

/** Files are handed in before the task that names them is made. */
function takeAttachments(
  { task, origins, where }: Draft,
  { folder, isScheduled, problems }: { folder: string; isScheduled: boolean; problems: string[] },
): string[] {
  const { attachments } = task
  delete task.attachments
  if (attachments === undefined) return []
  const from = where(origins.get('attachments') ?? [])
  if (isScheduled) problems.push(`${from} "attachments" are for one task; a schedule has none.`)
  if (Array.isArray(attachments) && attachments.every((path) => typeof path === 'string' && path !== ''))
    return attachments.map((path: string) => resolve(folder, path))
  problems.push(`${from} "attachments" must be a list of paths.`)
  return []
}

function readValue(name: string, field: Field, inner: unknown, where: string, problems: string[]): unknown {
  try {
    return name === 'checks' ? wholeChecks(inner) : field.read ? field.read(inner) : inner
  } catch (error) {
    if (!(error instanceof WrongValue)) throw error
    problems.push(`${where} "${name}" ${error.message}.`)
    return undefined
  }
}

function put(draft: Draft, to: readonly string[], value: unknown, from: Path): void {
  let target = draft.task
  for (const step of to.slice(0, -1)) {
    if (!isObject(target[step])) target[step] = {}
    target = target[step] as Record<string, unknown>
  }
  // YAML writes an empty value as null, and means that nothing was said.
  if (value !== null && value !== undefined) target[to.at(-1)!] = value
  draft.origins.set(to.join('.'), from)
}

/** The part of the file that a path of the request was made from, or what is nearest around it. */
function originOf({ origins }: Draft, path: Path): Path {
  for (let length = path.length; length > 0; length--) {
    const from = origins.get(path.slice(0, length).join('.'))
    if (from) return [...from, ...path.slice(length)]
  }
  return []
}

/** Tasks of a file may call each other by an id of the file's own, which is the name of those that have none. */
function byOwnNames(drafts: readonly Draft[]): void {
  const names = new Map<unknown, unknown>()
  for (const { task } of drafts) {
    const { id } = task
    delete task.id
    if (id === undefined) continue
    task.name ??= id
    names.set(id, task.name)
  }
  for (const { task } of drafts)
    if (Array.isArray(task.dependsOn)) task.dependsOn = task.dependsOn.map((wanted: unknown) => names.get(wanted) ?? wanted)
}

function withPaths(task: Record<string, unknown>, folder: string): Record<string, unknown> {
  const absolute = (path: unknown) => (typeof path === 'string' ? resolve(folder, path) : path)
  return {
    ...task,
    ...(task.workspace === undefined ? {} : { workspace: absolute(task.workspace) }),
    ...(Array.isArray(task.contextDirs) ? { contextDirs: task.contextDirs.map(absolute) } : {}),
    ...(Array.isArray(task.writableDirs) ? { writableDirs: task.writableDirs.map(absolute) } : {}),
  }
}
