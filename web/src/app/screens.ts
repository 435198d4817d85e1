import type { ComponentType } from 'react'

export interface Screen {
  /** Parts that begin with `$` are given to the screen. */
  readonly path: string
  readonly title: string
  /** In the main menu, in this order; the letter goes there after `g`. */
  readonly menu?: { readonly letter: string } | undefined
  load(): Promise<{ default: ComponentType }>
}

/** Every screen is a file and a line here. */
export const screens: readonly Screen[] = [
  { path: '/', title: 'Now', menu: { letter: 'n' }, load: () => import('../screens/now.tsx') },
  { path: '/tasks', title: 'Tasks', menu: { letter: 't' }, load: () => import('../screens/tasks.tsx') },
  { path: '/tasks/$task', title: 'Task', load: () => import('../screens/task/task.tsx') },
  { path: '/new', title: 'New task', menu: { letter: 'w' }, load: () => import('../screens/new-task/index.tsx') },
  { path: '/inbox', title: 'Inbox', menu: { letter: 'i' }, load: () => import('../screens/inbox.tsx') },
  { path: '/sessions', title: 'Sessions', menu: { letter: 'h' }, load: () => import('../screens/sessions.tsx') },
  { path: '/sessions/$session', title: 'Session', load: () => import('../screens/session.tsx') },
  { path: '/agents', title: 'Agents', menu: { letter: 'a' }, load: () => import('../screens/agents.tsx') },
  { path: '/schedules', title: 'Schedules', menu: { letter: 's' }, load: () => import('../screens/schedules.tsx') },
  { path: '/costs', title: 'Costs', menu: { letter: 'c' }, load: () => import('../screens/costs.tsx') },
  { path: '/doctor', title: 'Doctor', load: () => import('../screens/doctor.tsx') },
  { path: '/settings', title: 'Settings', menu: { letter: 'e' }, load: () => import('../screens/settings.tsx') },
]
