import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useRef } from 'react'
import { asked } from '../data/asked.ts'
import styles from './menu.module.css'
import { type Screen, screens } from './screens.ts'

/** What a narrow window shows, and what a phone shows; the rest is one step away. */
const important = new Set(['/', '/tasks', '/board', '/new', '/inbox', '/sessions'])
const foremost = new Set(['/', '/tasks', '/inbox', '/sessions'])
const rankOf = ({ path }: Screen) =>
  foremost.has(path) ? styles.foremost : important.has(path) ? styles.important : styles.other

/** All screens in a row where there is room; where there is not, the others are behind "More". */
export function Menu() {
  const more = useRef<HTMLDivElement>(null)
  const entries = screens.filter(({ menu }) => menu)
  return (
    <nav aria-label="Screens" className={styles.menu}>
      {entries.map((screen) => (
        <Entry key={screen.path} screen={screen} className={rankOf(screen)} />
      ))}
      <button type="button" className={styles.more} popoverTarget="more-screens">
        More
      </button>
      <div ref={more} id="more-screens" popover="auto" className={styles.rest}>
        {entries
          .filter(({ path }) => !foremost.has(path))
          .map((screen) => (
            <Entry
              key={screen.path}
              screen={screen}
              className={important.has(screen.path) ? styles.onlyPhone : undefined}
              onGo={() => more.current?.hidePopover()}
            />
          ))}
      </div>
    </nav>
  )
}

function Entry({
  screen: { path, title },
  className,
  onGo,
}: {
  screen: Screen
  className?: string | undefined
  onGo?: () => void
}) {
  return (
    <Link
      to={path}
      className={className}
      activeOptions={{ exact: path === '/' }}
      activeProps={{ 'aria-current': 'page' }}
      onClick={onGo}
    >
      {title}
      {path === '/inbox' && <Waiting />}
    </Link>
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
