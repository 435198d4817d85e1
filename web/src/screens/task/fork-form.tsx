import { useMutation, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { messageOf } from '../../../../src/domain/error.ts'
import { isEnded } from '../../../../src/domain/task/task.ts'
import type { RecordingSummary } from '../../../../src/domain/view/recording.ts'
import type { TaskView } from '../../../../src/domain/view/view.ts'
import { asked } from '../../data/asked.ts'
import { pawl } from '../../data/pawl.ts'
import styles from './task.module.css'

/** The runs of a task that can be done once more, newest first. */
export function useRecordings(task: TaskView): readonly RecordingSummary[] {
  const { data } = useQuery({ ...asked.recordings, enabled: task.runs.length > 0 })
  return (data ?? []).filter((one) => one.task === task.id && one.canReplay && (one.state !== 'open' || isEnded(task.state)))
}

/** A task that does the same up to a call of a model, from which on another model goes on; or all of it again from the recording. */
export function ForkForm({ recordings, onDone }: { recordings: readonly RecordingSummary[]; onDone: () => void }) {
  const navigate = useNavigate()
  const [run, setRun] = useState(recordings[0]!.run)
  const chosen = recordings.find((one) => one.run === run) ?? recordings[0]!
  const [at, setAt] = useState('')
  const [model, setModel] = useState('')
  const [usd, setUsd] = useState('')
  const models = useQuery(asked.models)
  const show = async ({ id }: { id: string }) => {
    onDone()
    await navigate({ to: '/tasks/$task', params: { task: id } })
  }
  const fork = useMutation({
    mutationFn: () =>
      pawl.forkRun(chosen.run, {
        at: Number(at || chosen.calls),
        model: model.trim(),
        ...(usd === '' ? {} : { budget: { usd: Number(usd) } }),
      }),
    onSuccess: show,
  })
  const replay = useMutation({ mutationFn: () => pawl.replayRun(chosen.run), onSuccess: show })
  const failed = [fork, replay].find(({ isError }) => isError)
  return (
    <form
      className="stack"
      aria-label="Fork"
      onSubmit={(event) => {
        event.preventDefault()
        fork.mutate()
      }}
    >
      <p className="small faint">
        A new task does what the recorded run did, answered from the recording, up to a call; from there on a model of your choice
        goes on.
      </p>
      <div className={styles.fields}>
        {recordings.length > 1 && (
          <label>
            <span>Recorded run</span>
            <select value={chosen.run} onChange={(event) => setRun(event.target.value)}>
              {recordings.map((one) => (
                <option key={one.run} value={one.run}>
                  {new Date(one.begunAt).toLocaleString()}, {one.calls} calls
                </option>
              ))}
            </select>
          </label>
        )}
        <label>
          <span>From call, 1 to {chosen.calls}</span>
          <input
            type="number"
            min="1"
            max={chosen.calls}
            step="1"
            placeholder={String(chosen.calls)}
            value={at}
            onChange={(event) => setAt(event.target.value)}
          />
        </label>
        <label>
          <span>Model that goes on</span>
          <input required list="models-to-fork" value={model} onChange={(event) => setModel(event.target.value)} />
          <datalist id="models-to-fork">
            {models.data?.map(({ name }) => (
              <option key={name} value={name} />
            ))}
          </datalist>
        </label>
        <label>
          <span>Budget, in US dollars</span>
          <input
            type="number"
            min="0"
            step="any"
            placeholder="as before"
            value={usd}
            onChange={(event) => setUsd(event.target.value)}
          />
        </label>
      </div>
      <div className="row">
        <button type="submit" className="primary" disabled={fork.isPending}>
          Fork it
        </button>
        <button type="button" disabled={replay.isPending} onClick={() => replay.mutate()}>
          Replay all of it
        </button>
        <button type="button" onClick={onDone}>
          Leave it
        </button>
      </div>
      {failed && (
        <p role="alert" className={styles.refused}>
          {messageOf(failed.error)}
        </p>
      )}
    </form>
  )
}
