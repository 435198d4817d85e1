import { useMutation, useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { type FormEvent, useEffect, useState } from 'react'
import { messageOf } from '../../../src/domain/error.ts'
import { priorities } from '../../../src/domain/task/task.ts'
import type { NewTask } from '../../../src/domain/view.ts'
import { asked } from '../data/asked.ts'
import { pawl } from '../data/pawl.ts'
import styles from './new-task.module.css'

interface Written {
  readonly prompt: string
  readonly name: string
  readonly agent: string
  readonly workspace: string
  readonly profile: string
  readonly model: string
  readonly budget: string
  readonly checks: string
  readonly tags: string
  readonly priority: 'high' | 'normal' | 'low'
  readonly review: boolean
}

const nothing: Written = {
  prompt: '',
  name: '',
  agent: '',
  workspace: '',
  profile: '',
  model: '',
  budget: '',
  checks: '',
  tags: '',
  priority: 'normal',
  review: false,
}

/** What is written is kept while the page is away: nobody writes a long prompt twice. */
const place = 'pawl-new-task'
const draft = (): Written => {
  try {
    return { ...nothing, ...(JSON.parse(localStorage.getItem(place) ?? '{}') as Partial<Written>) }
  } catch {
    return nothing
  }
}

const words = (text: string) => text.split(/[\s,]+/).filter((word) => word !== '')
const lines = (text: string) =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')

/** The request that the form stands for; what is left empty is left to the settings. */
function requested(written: Written): NewTask {
  const given = (text: string) => (text.trim() === '' ? undefined : text.trim())
  const commands = lines(written.checks)
  return {
    prompt: written.prompt,
    name: given(written.name),
    agent: given(written.agent),
    workspace: given(written.workspace),
    profile: given(written.profile),
    model: given(written.model),
    tags: words(written.tags).length > 0 ? words(written.tags) : undefined,
    priority: priorities[written.priority],
    budget: given(written.budget) === undefined ? undefined : { usd: Number(written.budget) },
    review: written.review || undefined,
    checks: commands.length > 0 ? { commands: commands.map((run) => ({ run })), attempts: 0 } : undefined,
  }
}

export default function NewTaskScreen() {
  const [written, setWritten] = useState(draft)
  const navigate = useNavigate()
  const agents = useQuery(asked.agents)
  const profiles = useQuery(asked.profiles)
  const recent = useQuery(asked.tasks({ limit: 50 }))
  const complaint = useComplaint(written)
  const create = useMutation({
    mutationFn: () => pawl.createTask(requested(written)),
    onSuccess({ task }) {
      localStorage.removeItem(place)
      void navigate({ to: '/tasks/$task', params: { task: task.id } })
    },
  })
  const change = (fields: Partial<Written>) => {
    const next = { ...written, ...fields }
    localStorage.setItem(place, JSON.stringify(next))
    setWritten(next)
  }
  const text = (field: 'name' | 'model' | 'workspace' | 'tags' | 'budget') => ({
    value: written[field],
    onChange: (event: { target: { value: string } }) => change({ [field]: event.target.value }),
  })
  const workspaces = [...new Set(recent.data?.items.map(({ workspace }) => workspace))]
  const submit = (event: FormEvent) => {
    event.preventDefault()
    create.mutate()
  }
  return (
    <form className={styles.form} onSubmit={submit}>
      <h1>New task</h1>
      <label className={styles.wide}>
        <span>What is to be done</span>
        <textarea
          rows={8}
          required
          value={written.prompt}
          onChange={(event) => change({ prompt: event.target.value })}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) event.currentTarget.form?.requestSubmit()
          }}
        />
      </label>
      <label>
        <span>Agent</span>
        <select value={written.agent} onChange={(event) => change({ agent: event.target.value })}>
          <option value="">the default one</option>
          {agents.data?.map(({ name, health }) => (
            <option key={name} value={name}>
              {name}
              {health.healthy ? '' : ' (cannot work)'}
            </option>
          ))}
        </select>
      </label>
      <label>
        <span>Workspace, an absolute path; empty: one of its own</span>
        <input list="workspaces" autoComplete="off" {...text('workspace')} />
      </label>
      <datalist id="workspaces">
        {workspaces.map((path) => (
          <option key={path} value={path} />
        ))}
      </datalist>
      <label>
        <span>Profile: what it may see and do</span>
        <select value={written.profile} onChange={(event) => change({ profile: event.target.value })}>
          <option value="">that of the agent</option>
          {profiles.data?.map(({ name }) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </label>
      <label>
        <span>Model; empty: that of the agent</span>
        <input autoComplete="off" {...text('model')} />
      </label>
      <label>
        <span>Budget in US dollars</span>
        <input type="number" min="0" step="0.01" inputMode="decimal" {...text('budget')} />
      </label>
      <label>
        <span>Priority</span>
        <select value={written.priority} onChange={(event) => change({ priority: event.target.value as Written['priority'] })}>
          <option>high</option>
          <option>normal</option>
          <option>low</option>
        </select>
      </label>
      <label>
        <span>Name</span>
        <input autoComplete="off" {...text('name')} />
      </label>
      <label>
        <span>Tags</span>
        <input autoComplete="off" {...text('tags')} />
      </label>
      <label className={styles.wide}>
        <span>Checks that prove it is done, one command in each line</span>
        <textarea rows={2} value={written.checks} onChange={(event) => change({ checks: event.target.value })} />
      </label>
      <label className={styles.choice}>
        <input type="checkbox" checked={written.review} onChange={(event) => change({ review: event.target.checked })} />
        <span>I look at the work before it counts as done</span>
      </label>
      <div className={`row ${styles.wide}`}>
        <button type="submit" className="primary" disabled={create.isPending || written.prompt.trim() === ''}>
          {create.isPending ? 'Starting…' : 'Start'}
        </button>
        <button type="button" onClick={() => change(nothing)}>
          Clear
        </button>
        <Link to="/tasks">Tasks</Link>
      </div>
      {(create.isError || complaint) && (
        <p role="alert" className={`${styles.wide} ${styles.refused}`}>
          {create.isError ? messageOf(create.error) : complaint}
        </p>
      )}
    </form>
  )
}

/** What the daemon would refuse of it, asked a moment after the last stroke: it knows the same rules, and the agents and folders besides. */
function useComplaint(written: Written): string | undefined {
  const [complaint, setComplaint] = useState<string>()
  useEffect(() => {
    if (written.prompt.trim() === '') return setComplaint(undefined)
    let isOld = false
    const timer = setTimeout(() => {
      pawl.checkTask(requested(written)).then(
        () => isOld || setComplaint(undefined),
        (error: unknown) => isOld || setComplaint(messageOf(error)),
      )
    }, 400)
    return () => {
      isOld = true
      clearTimeout(timer)
    }
  }, [written])
  return complaint
}
