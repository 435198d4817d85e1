import { useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { messageOf } from '../../../../src/domain/error.ts'
import { isEnded } from '../../../../src/domain/task/task.ts'
import { asked } from '../../data/asked.ts'
import { pawl } from '../../data/pawl.ts'
import styles from './new-task.module.css'
import { type Written, writtenFrom } from './written.ts'

/** Which task is asked stays known while the page is away: it goes on by itself. */
const place = 'pawl-elaborating'

/** Has an agent make a whole task of a few words. It is put into the fields, to be looked at; nothing is started. */
export function Elaborate({ written, onProposal }: { written: Written; onProposal: (written: Written) => void }) {
  const [id, setId] = useState(() => localStorage.getItem(place))
  const [before, setBefore] = useState<Written>()
  const follow = (task: string | null) => {
    if (task === null) localStorage.removeItem(place)
    else localStorage.setItem(place, task)
    setId(task)
  }
  const ask = useMutation({
    mutationFn: () =>
      pawl.elaborateTask({ text: written.prompt, ...(written.workspace.trim() === '' ? {} : { workspace: written.workspace }) }),
    onSuccess: (task) => follow(task.id),
  })
  const stop = useMutation({ mutationFn: (task: string) => pawl.cancelTask(task), onSettled: () => follow(null) })
  const take = useMutation({
    mutationFn: (task: string) => pawl.getProposal(task),
    onSuccess(proposal) {
      setBefore(written)
      onProposal(writtenFrom(proposal, written))
    },
    onSettled: () => follow(null),
  })
  const { data: task } = useQuery({ ...asked.task(id ?? ''), enabled: id !== null })
  const taken = useRef<string>(undefined)
  useEffect(() => {
    if (!task || task.id !== id || !isEnded(task.state) || taken.current === task.id) return
    taken.current = task.id
    take.mutate(task.id)
  }, [task, id, take])
  const failed = [ask, take].find(({ isError }) => isError)
  return (
    <div className={`row small ${styles.wide}`}>
      {id === null ? (
        <button type="button" disabled={written.prompt.trim() === '' || ask.isPending} onClick={() => ask.mutate()}>
          {ask.isPending ? 'Asking…' : 'Make a task of this'}
        </button>
      ) : (
        <>
          <span role="status">
            An agent writes the task:{' '}
            <Link to="/tasks/$task" params={{ task: id }}>
              {task?.state ?? 'asked'}
            </Link>
          </span>
          <button type="button" disabled={stop.isPending} onClick={() => stop.mutate(id)}>
            Stop it
          </button>
        </>
      )}
      {before && id === null && (
        <>
          <span role="status">The task is in the fields; nothing is started yet.</span>
          <button
            type="button"
            onClick={() => {
              onProposal(before)
              setBefore(undefined)
            }}
          >
            Back to my words
          </button>
        </>
      )}
      {failed && id === null && (
        <p role="alert" className={styles.refused}>
          {messageOf(failed.error)}
        </p>
      )}
    </div>
  )
}
