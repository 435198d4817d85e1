import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import type { TaskFileRead } from '../../../../src/domain/draft/draft.ts'
import { messageOf, PawlError } from '../../../../src/domain/error.ts'
import { pawl } from '../../data/pawl.ts'
import { Text } from './fields.tsx'
import styles from './new-task.module.css'

const place = 'pawl-new-tasks'
const example = `- name: build
  prompt: make it build
- name: test
  prompt: make the tests pass
  depends_on: [build]
  checks: [npm test]`

/** Tasks as a file has them: shown as they would be made, and then made, all or none. */
export function PastedTasks() {
  const [text, setText] = useState(() => localStorage.getItem(place) ?? '')
  const [folder, setFolder] = useState('')
  const { read, problems } = useRead(text, folder)
  const navigate = useNavigate()
  const make = useMutation({
    mutationFn: makeAll,
    onSuccess(to) {
      localStorage.removeItem(place)
      void navigate({ to })
    },
  })
  const send = () => read && !make.isPending && make.mutate(read)
  return (
    <div className={styles.form}>
      <label className={styles.wide}>
        <span>YAML or JSON, as “pawl task add -f” reads it</span>
        <textarea
          className={styles.source}
          rows={14}
          spellCheck={false}
          placeholder={example}
          value={text}
          onChange={(event) => {
            localStorage.setItem(place, event.target.value)
            setText(event.target.value)
          }}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) send()
          }}
        />
      </label>
      <Text label="Paths in it are seen from this folder" placeholder="/" value={folder} onChange={setFolder} />
      {problems && (
        <ul role="alert" className={`${styles.wide} ${styles.refused} ${styles.problems}`}>
          {problems.map((problem) => (
            <li key={problem}>{problem}</li>
          ))}
        </ul>
      )}
      {read && <WouldBeMade read={read} />}
      <div className={styles.send}>
        <div className="row">
          <button type="button" className="primary" disabled={!read || make.isPending} onClick={send}>
            {make.isPending ? 'Making…' : nameOf(read)}
          </button>
          <span className="faint small">The tasks are made together or not at all.</span>
        </div>
        {make.isError && (
          <p role="alert" className={styles.refused}>
            {messageOf(make.error)}
          </p>
        )}
      </div>
    </div>
  )
}

function WouldBeMade({ read }: { read: TaskFileRead }) {
  return (
    <section className={`card ${styles.wide}`} aria-label="What would be made">
      <ol className={styles.made}>
        {read.tasks.map((task, n) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: two tasks of a file may be alike
          <li key={n}>
            <strong>{task.name ?? `task ${n + 1}`}</strong>
            <span className="faint small">
              {[
                task.agent,
                task.workspace,
                task.dependsOn?.length ? `after ${task.dependsOn.join(', ')}` : undefined,
                read.schedules[n] ? `again: ${read.schedules[n].says}` : undefined,
                task.checks?.commands.length ? `${task.checks.commands.length} checks` : undefined,
              ]
                .filter(Boolean)
                .join(' · ')}
            </span>
            <span className="one-line">{task.prompt}</span>
          </li>
        ))}
      </ol>
    </section>
  )
}

function nameOf(read: TaskFileRead | undefined): string {
  const again = read?.schedules.filter(Boolean).length ?? 0
  const once = (read?.tasks.length ?? 0) - again
  const count = (n: number, word: string) => `${n} ${word}${n === 1 ? '' : 's'}`
  if (!read) return 'Make the tasks'
  return `Make ${[...(once > 0 ? [count(once, 'task')] : []), ...(again > 0 ? [count(again, 'schedule')] : [])].join(' and ')}`
}

/** The schedules come first: whatever is wrong with one of them, no task has been made. */
async function makeAll({ tasks, schedules }: TaskFileRead): Promise<string> {
  const once = tasks.filter((_, n) => !schedules[n])
  for (const [n, { dependsOn: _, attachments: __, ...task }] of tasks.entries()) {
    const schedule = schedules[n]
    if (!schedule) continue
    const { says: ___, ...timing } = schedule
    await pawl.createSchedule({ ...timing, task })
  }
  if (once.length > 0) await pawl.createTasks({ tasks: once })
  return once.length > 0 ? '/tasks' : '/schedules'
}

/** What the daemon reads in it, asked a moment after the last stroke. */
function useRead(text: string, folder: string): { read?: TaskFileRead | undefined; problems?: readonly string[] | undefined } {
  const [state, setState] = useState<{ read?: TaskFileRead; problems?: readonly string[] }>({})
  useEffect(() => {
    if (text.trim() === '') return setState({})
    let isOld = false
    const timer = setTimeout(() => {
      pawl.readTasks({ text, ...(folder.trim() === '' ? {} : { folder: folder.trim() }) }).then(
        (read) => isOld || setState({ read }),
        (error: unknown) => isOld || setState({ problems: problemsOf(error) }),
      )
    }, 400)
    return () => {
      isOld = true
      clearTimeout(timer)
    }
  }, [text, folder])
  return state
}

function problemsOf(error: unknown): readonly string[] {
  const listed: unknown = error instanceof PawlError ? error.details?.problems : undefined
  return Array.isArray(listed) ? listed.map(String) : [messageOf(error)]
}
