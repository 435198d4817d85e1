import { useMutation, useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { messageOf } from '../../../../src/domain/error.ts'
import type { ScheduleChanges, ScheduleView } from '../../../../src/domain/schedule/schedule.ts'
import { asked } from '../../data/asked.ts'
import { pawl } from '../../data/pawl.ts'
import { NextTimes } from '../../parts/next-times.tsx'
import { Shown } from '../../parts/states.tsx'
import { Choice, Text, Tick } from '../new-task/fields.tsx'
import styles from '../schedules.module.css'
import { TaskFields } from './task-fields.tsx'
import { changesOf, faultIn, inverseOf, type WrittenSchedule, whenWords, writtenSchedule } from './written-schedule.ts'

/** Everything of a schedule that can be changed. `onDone` is given what takes the change back, if anything does. */
export function EditSchedule({ id, onDone }: { id: string; onDone(undo?: ScheduleChanges): void }) {
  return <Shown asked={useQuery(asked.schedule(id))}>{(schedule) => <Form schedule={schedule} onDone={onDone} />}</Shown>
}

const texts = {
  cron: { label: 'Minute, hour, day, month, day of the week', example: '0 7 * * 1-5' },
  every: { label: 'How often', example: '90m' },
  at: { label: 'Date and time', example: '2026-05-01 09:00' },
  idle: { label: 'After how much rest', example: '30m' },
} as const

function Form({ schedule, onDone }: { schedule: ScheduleView; onDone(undo?: ScheduleChanges): void }) {
  // What was shown when the form was opened: a tick that comes meanwhile takes nothing from under the writer.
  const [before] = useState(() => writtenSchedule(schedule))
  const [written, setWritten] = useState(before)
  const fault = faultIn(written, before)
  const keep = useMutation({
    mutationFn: async () => {
      const isMoved = (['kind', 'whenText', 'timeZone', 'idleOf'] as const).some((field) => written[field] !== before[field])
      const read = isMoved
        ? await pawl.previewSchedule({ when: whenWords(written), timeZone: written.timeZone.trim() })
        : undefined
      const changes = changesOf(written, before, read?.when)
      if (Object.keys(changes).length === 0) return undefined
      await pawl.changeSchedule(schedule.id, changes)
      return inverseOf(changes, schedule)
    },
    onSuccess: onDone,
  })
  const change = (fields: Partial<WrittenSchedule>) => {
    setWritten({ ...written, ...fields })
    // What was refused is no longer what stands there.
    keep.reset()
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (fault === undefined) keep.mutate()
  }
  const { kind } = written
  return (
    <form className={styles.edit} aria-label="Edit the schedule" onSubmit={submit}>
      <Text label="Name" value={written.name} onChange={(name) => change({ name })} />
      <Choice<WrittenSchedule['kind']> label="When" value={kind} onChange={(kind) => change({ kind, whenText: '' })}>
        <option value="cron">by the clock</option>
        <option value="every">every so often</option>
        <option value="at">once, later</option>
        <option value="idle">when nothing is done</option>
        <option value="initial">once, as soon as possible</option>
      </Choice>
      {kind !== 'initial' && (
        <Text
          label={texts[kind].label}
          placeholder={texts[kind].example}
          value={written.whenText}
          onChange={(whenText) => change({ whenText })}
        />
      )}
      {(kind === 'cron' || kind === 'at') && (
        <Text label="Whose clocks count" value={written.timeZone} onChange={(timeZone) => change({ timeZone })} />
      )}
      {kind === 'idle' && (
        <Choice<WrittenSchedule['idleOf']> label="Whose rest" value={written.idleOf} onChange={(idleOf) => change({ idleOf })}>
          <option value="agent">that of the agent</option>
          <option value="session">that of its own conversation</option>
        </Choice>
      )}
      <NextTimes when={kind === 'idle' || kind === 'initial' ? '' : whenWords(written)} timeZone={written.timeZone} />
      <Choice<WrittenSchedule['overlap']>
        label="If the last one has not ended"
        value={written.overlap}
        onChange={(overlap) => change({ overlap })}
      >
        <option value="skip">leave this one out</option>
        <option value="queue">let it wait</option>
        <option value="cancel">cancel the last one</option>
      </Choice>
      <Choice<WrittenSchedule['catchUp']>
        label="After a time without a daemon"
        value={written.catchUp}
        onChange={(catchUp) => change({ catchUp })}
      >
        <option value="none">make up for nothing</option>
        <option value="one">make up for the last one</option>
        <option value="all">make up for all of them</option>
      </Choice>
      <Text
        label="Each one up to so much later"
        placeholder="5m"
        value={written.jitter}
        onChange={(jitter) => change({ jitter })}
      />
      <Tick
        label="Each time goes on with the same conversation"
        value={written.session === 'keep'}
        onChange={(isKept) => change({ session: isKept ? 'keep' : 'new' })}
      />
      <TaskFields written={written} change={change} />
      <div className={`row ${styles.wide}`}>
        <button type="submit" className="primary" disabled={keep.isPending || fault !== undefined}>
          {keep.isPending ? 'Sending…' : 'Keep'}
        </button>
        <button type="button" onClick={() => onDone()}>
          Leave it
        </button>
        {(fault !== undefined || keep.isError) && (
          <span role="alert" className={styles.refused}>
            {fault ?? messageOf(keep.error)}
          </span>
        )}
      </div>
    </form>
  )
}
