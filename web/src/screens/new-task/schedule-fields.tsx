import { NextTimes } from '../../parts/next-times.tsx'
import { Choice, type FieldsProps, Text, Tick } from './fields.tsx'
import { type Written, whenWritten } from './written.ts'

const hints: Record<Exclude<Written['when'], ''>, { readonly label: string; readonly example: string }> = {
  cron: { label: 'Minute, hour, day, month, day of the week', example: '0 7 * * 1-5' },
  every: { label: 'How often', example: '90m' },
  at: { label: 'When', example: '2026-05-01 09:00' },
}

/** Makes a schedule of the form instead of one task. */
export function ScheduleFields({ written, change }: FieldsProps) {
  const { when } = written
  const hint = when === '' ? undefined : hints[when]
  return (
    <>
      <Choice<Written['when']> label="When" value={when} onChange={(when) => change({ when, whenText: '' })}>
        <option value="">once, now</option>
        <option value="cron">by the clock</option>
        <option value="every">every so often</option>
        <option value="at">once, later</option>
      </Choice>
      {hint && (
        <>
          <Text
            label={hint.label}
            placeholder={hint.example}
            value={written.whenText}
            onChange={(whenText) => change({ whenText })}
          />
          {when !== 'every' && (
            <Text label="Whose clocks count" value={written.timeZone} onChange={(timeZone) => change({ timeZone })} />
          )}
          <Text label="Name of the schedule" value={written.scheduleName} onChange={(scheduleName) => change({ scheduleName })} />
          {when !== 'at' && (
            <>
              <Choice<Written['overlap']>
                label="If the last one has not ended"
                value={written.overlap}
                onChange={(overlap) => change({ overlap })}
              >
                <option value="skip">leave this one out</option>
                <option value="queue">let it wait</option>
                <option value="cancel">cancel the last one</option>
              </Choice>
              <Tick
                label="Each time goes on with the same conversation"
                value={written.keepSession}
                onChange={(keepSession) => change({ keepSession })}
              />
            </>
          )}
          <NextTimes when={written.whenText.trim() === '' ? '' : whenWritten(written)} timeZone={written.timeZone} />
        </>
      )}
    </>
  )
}
