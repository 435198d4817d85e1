import type { ResolvedAgent } from '../domain/agent/agent-config.ts'
import { conflict, invalid, notFound } from '../domain/error.ts'
import type { ReplayOf } from '../domain/task/spec.ts'
import type { NewFork, NewReplay, RecordingSummary, RecordingView, ReplayReport } from '../domain/view/recording.ts'
import type { NewTask, TaskView } from '../domain/view/view.ts'
import type { Caller } from '../engine/auth/audit.ts'
import { translateDbErrors } from '../engine/base/translate-db-errors.ts'
import { loadRecording, recordingText, removeRecordingFiles } from '../engine/recordings/folder.ts'
import { reportReplay } from '../engine/recordings/report.ts'
import { RecordingLine } from '../gateway/recordings/format.ts'
import { deleteRecording, eventsOfRun, findRecording, listRecordings, type RecordingRow } from '../store/recordings.ts'
import { findTask } from '../store/tasks.ts'
import { recordingSummary, recordingView } from './recording-views.ts'
import type { OwnTaskVerbs, TaskVerbParts } from './tasks/tasks.ts'

/** What can be done with what was kept of runs. */
export interface RecordingVerbs {
  /** Newest first, at most 500. */
  listRecordings(): Promise<RecordingSummary[]>
  getRecording(run: string): Promise<RecordingView>
  /** The recording as a file of its own, without the workspace and what else is needed to run the agent again. */
  exportRecording(run: string, caller: Caller): Promise<string>
  removeRecording(run: string, caller: Caller): Promise<void>
  /** Makes a task that does once more what a recorded run did, in a copy of its workspace, answered from the recording. */
  replayRun(run: string, how: NewReplay, caller: Caller): Promise<TaskView>
  /** The same up to a call, from which on another model goes on. */
  forkRun(run: string, how: NewFork, caller: Caller): Promise<TaskView>
  /** How a replay that has ended compares with the run it repeats. */
  getReplay(task: string): Promise<ReplayReport>
}

export type RecordingVerbParts = TaskVerbParts

export function recordingVerbs(parts: RecordingVerbParts, { createTask }: Pick<OwnTaskVerbs, 'createTask'>): RecordingVerbs {
  const { db, home, audit } = parts
  const existing = async (run: string): Promise<RecordingRow> => {
    const row = await translateDbErrors(() => findRecording(db, run))
    if (!row)
      throw notFound(
        `Run ${run} was not recorded; "pawl recording ls" lists those that were, and "pawl run --record" records one.`,
      )
    return row
  }

  /** A run that made others work, or waited for a person, cannot be had again without them. */
  const assertAlone = async (run: string) => {
    const events = await translateDbErrors(() => eventsOfRun(db, run))
    if (events.some(({ type }) => type === 'subtask.created'))
      throw conflict(`Run ${run} made subtasks, which a replay would make once more; it cannot be replayed.`)
  }

  const again = async (run: string, of: Omit<ReplayOf, 'run'>, changes: Partial<NewTask>, caller: Caller): Promise<TaskView> => {
    const row = await existing(run)
    if (!row.is_over && row.run_ended_at === null) throw conflict(`Run ${run} is still going on; wait until it has ended.`)
    if (!row.has_workspace)
      throw conflict(`Run ${run} cannot be replayed: its workspace was not kept${row.stopped ? `, because ${row.stopped}` : ''}.`)
    await assertAlone(run)
    const { head, calls } = await loadRecording(home, run)
    if (calls.length === 0) throw conflict(`Run ${run} cannot be replayed: no call of it went through the gateway.`)
    if (of.until !== undefined && of.until > calls.length)
      throw invalid(`Run ${run} has ${calls.length} calls; name one of them.`)
    const task = await translateDbErrors(() => findTask(db, row.task_id))
    const agent = [task?.agent_config, ...(task?.spec.failover ?? [])].find((one) => one?.name === head.agent)
    if (!task || !agent) throw conflict(`Run ${run} cannot be replayed: its agent "${head.agent}" is not known any more.`)
    const { spec } = task
    const named = task.name ?? `run ${run}`
    const request: NewTask = {
      prompt: task.prompt,
      agentConfig: of.hasOtherModel ? withModels(agent, parts.agents) : agent,
      name: `${of.hasOtherModel ? 'Fork' : 'Replay'} of ${named}`.slice(0, 200),
      once: spec.once,
      checks: null,
      record: false,
      outputSchema: task.output_schema ? { ...task.output_schema } : undefined,
      extraArgs: task.extra_args.length > 0 ? [...task.extra_args] : undefined,
      allowedTools: spec.allowedTools,
      disallowedTools: spec.disallowedTools,
      appendSystemPrompt: spec.appendSystemPrompt,
      allowHome: spec.allowHome,
      contextDirs: spec.contextDirs,
      writableDirs: spec.writableDirs,
      mounts: spec.mounts,
      skipPlanning: spec.skipPlanning,
      role: spec.role,
      subtasks: spec.subtasks,
      ...changes,
    }
    return (await createTask(request, { ...caller, replay: { run, ...of }, attachments: spec.attachments })).task
  }

  return {
    listRecordings: async () => (await translateDbErrors(() => listRecordings(db, 500))).map(recordingSummary),
    getRecording: async (run) => recordingView(await existing(run), await loadRecording(home, run)),
    async exportRecording(run, caller) {
      await existing(run)
      const text = withoutFiles(await recordingText(home, run))
      await audit.record(caller, 'recording.export', run)
      return text
    },
    async removeRecording(run, caller) {
      const row = await existing(run)
      if (!row.is_over && row.run_ended_at === null) throw conflict(`Run ${run} is still going on; wait until it has ended.`)
      // What a crash leaves between the two is found by its run and goes with its task.
      removeRecordingFiles(home, [run])
      await translateDbErrors(() => deleteRecording(db, run))
      await audit.record(caller, 'recording.remove', run)
    },
    replayRun: (run, { until, prompt, attended }, caller) =>
      again(
        run,
        { ...(until === undefined ? {} : { until }), ...(prompt === undefined ? {} : { hasOtherPrompt: true }) },
        { attended, ...(prompt === undefined ? {} : { prompt }) },
        caller,
      ),
    forkRun: (run, { at, model, budget, attended }, caller) =>
      again(run, { until: at - 1, hasOtherModel: true }, { model, attended, ...(budget ? { budget } : {}) }, caller),
    async getReplay(id) {
      const task = await translateDbErrors(() => findTask(db, id))
      if (!task) throw notFound(`There is no task ${id}; "pawl ls" lists those there are.`)
      return translateDbErrors(() => reportReplay({ db, home }, task))
    },
  }
}

/** The other model may be one that was listed since. */
function withModels(agent: ResolvedAgent, agents: readonly ResolvedAgent[]): ResolvedAgent {
  const now = agents.find(({ name }) => name === agent.name)?.models
  if (!now) return agent
  const { providers, models } = agent.models ?? { providers: {}, models: {} }
  return {
    ...agent,
    models: { providers: { ...now.providers, ...providers }, models: { ...now.models, ...models } },
  }
}

/** A file that is given to others holds what models were asked and said, and nothing of the machine that it came from. */
function withoutFiles(text: string): string {
  const lines = text.split('\n').filter((line) => line !== '')
  const kept = lines.flatMap((line) => {
    if (line.startsWith('{"type":"workspace"')) return []
    if (!line.startsWith('{"type":"start"')) return [line]
    const start = RecordingLine.parse(JSON.parse(line))
    return [JSON.stringify({ ...start, session: undefined })]
  })
  return `${kept.join('\n')}\n`
}
