import { useMutation } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { messageOf } from '../../../../src/domain/error.ts'
import type { TaskRetry, TaskView } from '../../../../src/domain/view/view.ts'
import { pawl } from '../../data/pawl.ts'
import styles from './task.module.css'

interface Cap {
  readonly name: 'usd' | 'perRunUsd' | 'tokens' | 'turns' | 'wallMs' | 'timeoutMs'
  readonly label: string
  /** What is written is so many of the unit that is sent. */
  readonly unit: number
  readonly step: string
}

const caps: readonly Cap[] = [
  { name: 'usd', label: 'Budget, in US dollars', unit: 1, step: 'any' },
  { name: 'perRunUsd', label: 'Of it for one run', unit: 1, step: 'any' },
  { name: 'tokens', label: 'Tokens', unit: 1, step: '1' },
  { name: 'turns', label: 'Turns', unit: 1, step: '1' },
  { name: 'wallMs', label: 'Minutes for all runs', unit: 60_000, step: 'any' },
  { name: 'timeoutMs', label: 'Minutes for one run, 0 for no end', unit: 60_000, step: 'any' },
]

/** Once more, with what it is held to now unless other caps are named. */
export function RetryForm({ task, onDone }: { task: TaskView; onDone: () => void }) {
  const { budget, timeoutMs } = task.settings
  const current: Record<Cap['name'], number | null | undefined> = { ...noCaps, ...budget, timeoutMs }
  const isOver = task.state === 'over_budget'
  const [fresh, setFresh] = useState(false)
  const [given, setGiven] = useState<Partial<Record<Cap['name'], string>>>(
    isOver && budget.usd !== undefined ? { usd: String(Math.max(1, budget.usd * 2)) } : {},
  )
  const first = useRef<HTMLInputElement>(null)
  useEffect(() => {
    if (isOver) first.current?.select()
  }, [isOver])
  const retry = useMutation({ mutationFn: () => pawl.retryTask(task.id, asAsked(fresh, given)), onSuccess: onDone })
  return (
    <form
      className="stack"
      aria-label="Try again"
      onSubmit={(event) => {
        event.preventDefault()
        retry.mutate()
      }}
    >
      <div className={styles.fields}>
        {caps.map(({ name, label, unit, step }) => {
          const now = current[name]
          return (
            <label key={name}>
              <span>{label}</span>
              <input
                ref={name === 'usd' ? first : null}
                type="number"
                min="0"
                step={step}
                inputMode="decimal"
                placeholder={now === null || now === undefined ? 'no cap' : `${now / unit} as now`}
                value={given[name] ?? ''}
                onChange={(event) => setGiven({ ...given, [name]: event.target.value })}
              />
            </label>
          )
        })}
      </div>
      <label className={styles.choice}>
        <input type="checkbox" checked={fresh} onChange={(event) => setFresh(event.target.checked)} />
        Begin a new conversation
      </label>
      <div className="row">
        <button type="submit" className="primary" disabled={retry.isPending}>
          {isOver ? 'Go on' : 'Try again now'}
        </button>
        <button type="button" onClick={onDone}>
          Leave it
        </button>
      </div>
      {retry.isError && (
        <p role="alert" className={styles.refused}>
          {messageOf(retry.error)}
        </p>
      )}
    </form>
  )
}

const noCaps = { usd: undefined, perRunUsd: undefined, tokens: undefined, turns: undefined, wallMs: undefined }

function asAsked(fresh: boolean, given: Partial<Record<Cap['name'], string>>): TaskRetry {
  const named = caps.flatMap(({ name, unit }) => (given[name]?.trim() ? [[name, Number(given[name]) * unit] as const] : []))
  const { timeoutMs, ...budget } = Object.fromEntries(named) as Partial<Record<Cap['name'], number>>
  return {
    fresh,
    ...(Object.keys(budget).length > 0 ? { budget } : {}),
    ...(timeoutMs === undefined ? {} : { timeoutMs: Math.round(timeoutMs) }),
  }
}
