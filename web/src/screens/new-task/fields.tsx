import type { InputHTMLAttributes, ReactNode } from 'react'
import styles from './new-task.module.css'
import type { Change, Written } from './written.ts'

export interface FieldsProps {
  readonly written: Written
  readonly change: Change
}

interface FieldProps<T extends string> {
  readonly label: ReactNode
  readonly value: T
  onChange(value: T): void
}

export function Text({
  label,
  value,
  onChange,
  ...input
}: FieldProps<string> & Omit<InputHTMLAttributes<HTMLInputElement>, 'value' | 'onChange'>) {
  return (
    <label>
      <span>{label}</span>
      <input autoComplete="off" {...input} value={value} onChange={(event) => onChange(event.target.value)} />
    </label>
  )
}

export function Lines({ label, value, onChange, rows = 2 }: FieldProps<string> & { rows?: number }) {
  return (
    <label className={styles.wide}>
      <span>{label}</span>
      <textarea rows={rows} value={value} onChange={(event) => onChange(event.target.value)} />
    </label>
  )
}

export function Choice<T extends string>({ label, value, onChange, children }: FieldProps<T> & { children: ReactNode }) {
  return (
    <label>
      <span>{label}</span>
      <select value={value} onChange={(event) => onChange(event.target.value as T)}>
        {children}
      </select>
    </label>
  )
}

export function Tick({ label, value, onChange }: { label: ReactNode; value: boolean; onChange(value: boolean): void }) {
  return (
    <label className={styles.tick}>
      <input type="checkbox" checked={value} onChange={(event) => onChange(event.target.checked)} />
      <span>{label}</span>
    </label>
  )
}
