import { useMutation } from '@tanstack/react-query'
import { messageOf } from '../../../../src/domain/error.ts'
import type { ScheduleChanges } from '../../../../src/domain/schedule/schedule.ts'
import { pawl } from '../../data/pawl.ts'
import styles from '../schedules.module.css'

/** Says that a schedule was changed, and takes it back. */
export function Undo({ id, changes, onDone }: { id: string; changes: ScheduleChanges; onDone(): void }) {
  const undo = useMutation({ mutationFn: () => pawl.changeSchedule(id, changes), onSuccess: onDone })
  return (
    <div className="row" role="status">
      <span>It was changed.</span>
      <button type="button" disabled={undo.isPending} onClick={() => undo.mutate()}>
        Undo
      </button>
      <button type="button" onClick={onDone}>
        Fine
      </button>
      {undo.isError && <span className={styles.refused}>{messageOf(undo.error)}</span>}
    </div>
  )
}
