import { useQuery } from '@tanstack/react-query'
import { Link, Outlet } from '@tanstack/react-router'
import { useRef } from 'react'
import { asked } from '../data/asked.ts'
import { useLive } from '../data/live.ts'
import { Away } from '../parts/away.tsx'
import { Connection } from '../parts/connection.tsx'
import { SignIn } from '../parts/sign-in.tsx'
import { Failure } from '../parts/states.tsx'
import { useArrival } from './arrival.ts'
import styles from './frame.module.css'
import { NewerPage } from './kept/newer-page.tsx'
import { useRenewedPush } from './kept/use-renewed-push.ts'
import { useGoKeys } from './keys.ts'
import { KeysHelp } from './keys-help.tsx'
import { Menu } from './menu.tsx'
import { screens } from './screens.ts'
import { ThemeSwitch } from './theme-switch.tsx'

/** What stands around every screen: the menu, whether what is shown is live, and how many questions wait. */
export function Frame() {
  // Of a daemon that is away nothing is known, so it is asked until it answers.
  const me = useQuery({ ...asked.me, refetchInterval: ({ state }) => (isAway(state.error) ? 3_000 : false) })
  useGoKeys(screens)
  if (me.isError && isStranger(me.error)) return <SignIn />
  if (me.data) return <Inside />
  const reason = me.error ?? me.failureReason
  return (
    <main className={styles.main}>
      {isAway(reason) ? <Away /> : me.isError && <Failure error={me.error} again={() => void me.refetch()} />}
    </main>
  )
}

function Inside() {
  const connection = useLive()
  const main = useRef<HTMLElement>(null)
  useArrival(main)
  useRenewedPush()
  return (
    <div className={styles.frame}>
      <button type="button" className={styles.skip} onClick={() => main.current?.focus()}>
        Skip to the content
      </button>
      <header className={styles.head}>
        <Link to="/" className={styles.mark} aria-label="Pawl: what needs you now">
          <img src="/icon.svg" alt="" width="24" height="24" />
          <span>Pawl</span>
        </Link>
        <Menu />
        <NewerPage connection={connection} />
        <Connection state={connection} />
        <KeysHelp />
        <ThemeSwitch />
      </header>
      <main id="main" ref={main} tabIndex={-1} className={styles.main}>
        <Outlet />
      </main>
    </div>
  )
}

const isAway = (error: Error | null) => error !== null && 'code' in error && error.code === 'unavailable'
const isStranger = (error: Error) => 'code' in error && error.code === 'denied'
