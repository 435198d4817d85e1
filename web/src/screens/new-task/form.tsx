import { useMutation, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, type KeyboardEvent, useRef, useState } from 'react'
import { messageOf } from '../../../../src/domain/error.ts'
import { asked } from '../../data/asked.ts'
import { pawl } from '../../data/pawl.ts'
import { Attachments } from '../../parts/attachments.tsx'
import { Elaborate } from './elaborate.tsx'
import { Choice, Text, Tick } from './fields.tsx'
import { Group } from './group.tsx'
import { LimitFields } from './limit-fields.tsx'
import styles from './new-task.module.css'
import { OrderFields } from './order-fields.tsx'
import { ProofFields } from './proof-fields.tsx'
import { QuestionFields } from './question-fields.tsx'
import { ScheduleFields } from './schedule-fields.tsx'
import { TemplateFields } from './template-fields.tsx'
import { useComplaint } from './use-complaint.ts'
import { WorkspaceFields } from './workspace-fields.tsx'
import { draft, dropDraft, keepDraft, nothing, requested, type Written, whenWritten } from './written.ts'

/** A task, or a schedule that makes the same task again and again, from fields. */
export function NewTaskForm() {
  const [written, setWritten] = useState(draft)
  const [isBusy, setBusy] = useState(false)
  const navigate = useNavigate()
  const agents = useQuery(asked.agents)
  const complaint = useComplaint(written)
  // What is handed in comes later than the stroke that is on the screen by then.
  const latest = useRef(written)
  latest.current = written
  const put = (next: Written) => {
    latest.current = next
    keepDraft(next)
    setWritten(next)
  }
  const change = (fields: Partial<Written>) => put({ ...latest.current, ...fields })
  const create = useMutation({
    mutationFn: () => make(written),
    onSuccess(to) {
      dropDraft()
      void navigate(to)
    },
  })
  const isReady = written.prompt.trim() !== '' && !create.isPending && !isBusy
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (isReady) create.mutate()
  }
  const onKeyDown = (event: KeyboardEvent<HTMLFormElement>) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) event.currentTarget.requestSubmit()
  }
  const isAgain = written.when !== ''
  return (
    <form className={styles.form} onSubmit={submit} onKeyDown={onKeyDown}>
      <label className={styles.wide}>
        <span>What is to be done</span>
        <textarea rows={7} required value={written.prompt} onChange={(event) => change({ prompt: event.target.value })} />
      </label>
      {written.when === '' && (
        <div className={styles.wide}>
          <Attachments value={written.files} onChange={(files) => change({ files })} onBusy={setBusy} />
        </div>
      )}
      <Elaborate written={written} onProposal={put} />
      <Choice label="Agent" value={written.agent} onChange={(agent) => change({ agent })}>
        <option value="">the default one</option>
        {agents.data?.map(({ name, health }) => (
          <option key={name} value={name}>
            {name}
            {health.healthy ? '' : ' (cannot work)'}
          </option>
        ))}
      </Choice>
      <Text label="Name" value={written.name} onChange={(name) => change({ name })} />
      <WorkspaceFields written={written} change={change} />
      <Group title="Proof and review" isOpen={written.checks !== '' || written.review}>
        <ProofFields written={written} change={change} />
      </Group>
      <Group title="Rights and limits" isOpen={[written.profile, written.model, written.budget, written.timeout].some(Boolean)}>
        <LimitFields written={written} change={change} />
      </Group>
      <Group
        title="Order and labels"
        isOpen={written.dependsOn.length > 0 || [written.waitsFor, written.tags].some(Boolean) || written.priority !== 'normal'}
      >
        <OrderFields written={written} change={change} />
      </Group>
      <Group title="Questions" isOpen={written.answerWithin !== ''}>
        <QuestionFields written={written} change={change} />
      </Group>
      <Group title="Template" isOpen={written.template !== ''}>
        <TemplateFields written={written} change={change} />
      </Group>
      <Group title="Again and again" isOpen={isAgain}>
        <ScheduleFields written={written} change={change} />
      </Group>
      <div className={styles.send}>
        <div className="row">
          <button type="submit" className="primary" disabled={!isReady} title="Ctrl or Cmd and Enter">
            {create.isPending ? 'Sending…' : isAgain ? 'Make the schedule' : 'Start'}
          </button>
          <button type="button" onClick={() => put(nothing)}>
            Clear
          </button>
          <span className="faint small">
            <kbd>Ctrl</kbd> <kbd>Enter</kbd>
          </span>
        </div>
        {(create.isError || complaint) && (
          <p role="alert" className={styles.refused}>
            {create.isError ? messageOf(create.error) : complaint}
          </p>
        )}
        {(written.allowHome || (create.isError && messageOf(create.error).includes('--allow-home'))) && (
          <Tick
            label={`Let the agent work in ${written.workspace}, a home folder. It can read and change everything there but keys and logins that Pawl knows of.`}
            value={written.allowHome}
            onChange={(allowHome) => change({ allowHome })}
          />
        )}
      </div>
    </form>
  )
}

async function make(written: Written): Promise<{ to: string; params?: { task: string } }> {
  const task = requested(written)
  if (written.when === '') {
    const made = await pawl.createTask(task)
    return { to: '/tasks/$task', params: { task: made.task.id } }
  }
  const { when } = await pawl.previewSchedule({ when: whenWritten(written), timeZone: written.timeZone })
  const { dependsOn: _, attachments: __, ...template } = task
  await pawl.createSchedule({
    ...(written.scheduleName.trim() === '' ? {} : { name: written.scheduleName.trim() }),
    ...{
      when,
      task: template,
      session: written.keepSession ? 'keep' : 'new',
      overlap: written.overlap,
      catchUp: 'one',
      jitterMs: 0,
    },
  })
  return { to: '/schedules' }
}
