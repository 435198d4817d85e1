import { useQuery } from '@tanstack/react-query'
import { Link, Outlet, useLocation } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { asked } from '../data/asked.ts'
import { useLive } from '../data/live.ts'
import { Connection } from '../parts/connection.tsx'
import { SignIn } from '../parts/sign-in.tsx'
import { Failure } from '../parts/states.tsx'
import styles from './frame.module.css'
import { useGoKeys } from './keys.ts'
import { screens } from './screens.ts'
import { ThemeSwitch } from './theme-switch.tsx'

/** What stands around every screen: the menu, whether what is shown is live, and how many questions wait. */
export function Frame() {
  const me = useQuery(asked.me)
  useGoKeys(screens)
  if (me.isError && isStranger(me.error)) return <SignIn />
  if (me.data) return <Inside />
  return <main className={styles.frame}>{me.isError && <Failure error={me.error} again={() => void me.refetch()} />}</main>
}

function Inside() {
  const connection = useLive()
  const { pathname } = useLocation()
  const main = useRef<HTMLElement>(null)
  const title = screens.find(({ path }) => path === pathname)?.title
  useEffect(() => {
    if (title) document.title = `${title} · Pawl`
  }, [title])
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
        <nav aria-label="Screens" className={styles.menu}>
          {screens
            .filter(({ menu }) => menu)
            .map(({ path, title }) => (
              <Link key={path} to={path} activeOptions={{ exact: path === '/' }} activeProps={{ 'aria-current': 'page' }}>
                {title}
                {path === '/inbox' && <Waiting />}
              </Link>
            ))}
        </nav>
        <Connection state={connection} />
        <ThemeSwitch />
      </header>
      <main id="main" ref={main} tabIndex={-1} className={styles.main}>
        <Outlet />
      </main>
    </div>
  )
}

function Waiting() {
  const { data } = useQuery(asked.questions)
  if (!data?.length) return null
  return (
    <span className={styles.count}>
      {data.length}
      <span className="hidden-but-read"> {data.length === 1 ? 'question waits' : 'questions wait'}</span>
    </span>
  )
}

const isStranger = (error: Error) => 'code' in error && error.code === 'denied'
