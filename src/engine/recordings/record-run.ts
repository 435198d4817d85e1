import { createWriteStream } from 'node:fs'
import type { Adapter } from '../../agents/port.ts'
import { messageOf } from '../../domain/error.ts'
import { createTape } from '../../gateway/recordings/recorder.ts'
import type { Recorder } from '../../gateway/recordings/recording.ts'
import { endRecording, insertRecording } from '../../store/recordings.ts'
import type { TakenRun } from '../../store/runs.ts'
import type { RunContext } from '../base/run-context.ts'
import type { RunServices } from '../base/run-services.ts'
import type { PreparedWorkspace } from '../workspace/workspace.ts'
import { emptyFolder, makeRecordingFolder } from './folder.ts'
import { keepTree } from './keep-tree.ts'
import { keepSession } from './session-files.ts'

/** What is kept of one run. */
export interface RunRecording {
  readonly recorder: Recorder
  /** What the agent is told, and the conversation it goes on with, just before it is started. */
  start(told: Told): Promise<void>
  /** When nothing asks any more. */
  end(): Promise<void>
}

export interface Told {
  readonly prompt: string
  readonly systemPrompt: string | undefined
  readonly resume: string | undefined
}

/** Keeps the workspace as it is now, and whatever is asked of models from now on. A run that cannot be recorded goes on without: undefined. */
export async function beginRecording(
  taken: TakenRun,
  parts: Pick<RunServices, 'db' | 'clock' | 'home' | 'redactor' | 'recordings'>,
  voice: RunContext,
  place: { workspace: PreparedWorkspace; adapter: Adapter; home: string },
): Promise<RunRecording | undefined> {
  try {
    return await begin(taken, parts, voice, place)
  } catch (error) {
    if (voice.watch.reason) throw error
    voice.log.warn('a run is not recorded', { error: messageOf(error), reason: 'not_recorded' })
    void voice.note('not_recorded', `The run is not recorded: ${messageOf(error)}`)
    return undefined
  }
}

async function begin(
  { run, task }: TakenRun,
  parts: Pick<RunServices, 'db' | 'clock' | 'home' | 'redactor' | 'recordings'>,
  voice: RunContext,
  { workspace, adapter, home }: { workspace: PreparedWorkspace; adapter: Adapter; home: string },
): Promise<RunRecording> {
  const { redactor, clock } = parts
  const maxBytes = parts.recordings.maxMb * 1_000_000
  const now = () => new Date(clock.now())
  await insertRecording(parts.db, run.id, now())
  const folder = makeRecordingFolder(parts.home, run.id)
  let stopped: string | undefined
  const stop = (why: string) => {
    stopped ??= why
    void voice.note('recording_stopped', why)
  }
  const file = createWriteStream(folder.file, { flags: 'wx', mode: 0o600, flush: true })
  const closed = new Promise<void>((resolve) => file.once('close', resolve))
  let isBroken = false
  file.on('error', (error) => {
    isBroken = true
    stop(`The recording could not be written: ${error.message}`)
  })
  const tape = createTape({
    write: (line) => void (isBroken || file.write(line)),
    redactor,
    monotonic: () => clock.monotonic(),
    maxBytes,
    onFull: stop,
  })
  const { name: agent, adapter: kind, model } = task.agent_config
  tape.line({
    type: 'recording',
    version: 1,
    run: run.id,
    task: task.id,
    at: now().toISOString(),
    agent,
    adapter: kind,
    ...(model === undefined ? {} : { model }),
  })
  const signal = voice.watch.signal
  const tree = await keepTree(workspace.source, folder, { redactor, maxBytes, without: parts.home, signal })
  tape.line({ type: 'workspace', ...tree })
  if (tree.leftOut !== undefined) {
    emptyFolder(folder)
    void voice.note('workspace_not_recorded', `The run can be looked at, but not replayed, because ${tree.leftOut}.`)
  }

  let calls = 0
  let ending: Promise<void> | undefined
  const end = async () => {
    const kept = tape.end()
    file.end()
    await closed
    await endRecording(parts.db, run.id, {
      calls: kept.calls,
      bytes: kept.bytes + tree.bytes,
      hasWorkspace: tree.leftOut === undefined,
      stopped,
      at: now(),
    })
    if (calls === 0)
      await voice.note('nothing_recorded', 'No call of this run went through the gateway, so there is nothing to replay.')
  }
  return {
    recorder: {
      begin(ask) {
        calls++
        return tape.begin(ask)
      },
    },
    async start({ prompt, systemPrompt, resume }) {
      const session =
        resume === undefined || !adapter.sessions
          ? undefined
          : await keepSession(resume, { home, files: adapter.sessions, folder, redactor })
      tape.line({
        type: 'start',
        prompt: redactor.text(prompt),
        ...(systemPrompt === undefined ? {} : { systemPrompt: redactor.text(systemPrompt) }),
        workspace: workspace.path,
        home,
        mode: workspace.mode,
        ...(session ? { session } : {}),
      })
    },
    end: () => {
      ending ??= end().catch((error: unknown) =>
        voice.log.warn('a recording was not ended', { error: messageOf(error), reason: 'not_recorded' }),
      )
      return ending
    },
  }
}
