import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { messageOf } from '../../../src/domain/error.ts'
import styles from './states.module.css'

export function Loading() {
  return (
    <div className={styles.state} role="status">
      <span className="faint">Loading…</span>
    </div>
  )
}

/** Nothing is there, which is good or means that something is to be done. */
export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className={styles.state}>
      <strong>{title}</strong>
      {children}
    </div>
  )
}

export function Failure({ error, again }: { error: unknown; again?: (() => void) | undefined }) {
  return (
    <div className={`${styles.state} ${styles.bad}`} role="alert">
      <strong>This could not be shown.</strong>
      <p>{messageOf(error)}</p>
      {again && (
        <button type="button" onClick={again}>
          Try again
        </button>
      )}
    </div>
  )
}

export function NotHere() {
  return (
    <div className={styles.state}>
      <h1>There is no such screen.</h1>
      <p>
        <Link to="/">Go to what needs you now.</Link>
      </p>
    </div>
  )
}

interface Asked<T> {
  readonly data: T | undefined
  readonly error: unknown
  readonly isPending: boolean
  refetch(): unknown
}

/** What was asked for, or why it is not there. What was known before stays while it cannot be asked for anew. */
export function Shown<T>({ asked, children }: { asked: Asked<T>; children: (data: T) => ReactNode }) {
  if (asked.data !== undefined) return children(asked.data)
  return asked.error ? <Failure error={asked.error} again={() => void asked.refetch()} /> : <Loading />
}
