import { notFound } from '../src/domain/error.ts'
import { newId } from '../src/domain/id.ts'
import type { Audit } from '../src/engine/auth/audit.ts'
import type { Entrance } from '../src/engine/auth/auth.ts'

/** An entrance in memory for tests of surfaces: it knows the owner of the home and nobody else. */
export function fakeEntrance(homeToken: string): Entrance {
  const at = '2026-01-02T03:04:05.000Z'
  const user = (name: string) => ({
    name,
    role: 'operator' as const,
    isDisabled: false,
    slots: null,
    dailyTasks: null,
    tasksToday: null,
    createdAt: at,
  })
  const token = () => ({
    ...{ id: newId('token', 0), user: 'local', kind: 'user' as const, role: null, name: null, task: null },
    ...{ createdAt: at, createdBy: 'local', expiresAt: null, lastUsedAt: null, revokedAt: null },
  })
  const refuse = (what: string) => () => Promise.reject(notFound(`There is no such ${what}.`))
  return {
    authenticate: async (text, shownIn) =>
      shownIn === 'header' && text === homeToken ? { user: 'local', standing: 'admin', token: 'home' } : undefined,
    listUsers: async () => [user('local')],
    createUser: async ({ name }) => user(name),
    setUser: refuse('user'),
    removeUser: refuse('user'),
    listTokens: async () => [token()],
    createToken: async () => ({ ...token(), token: 'pawl_x' }),
    revokeToken: refuse('token'),
    createSignInCode: async () => ({ code: 'pawl_c', path: '/sign-in?code=pawl_c', expiresAt: at }),
    signIn: async () => undefined,
    signOut: async () => undefined,
    onChange: () => () => undefined,
    tidy: async () => undefined,
  }
}

export function fakeAudit(): Pick<Audit, 'list' | 'verify' | 'record'> {
  return {
    list: async () => ({ items: [], next: null }),
    verify: async () => ({ isWhole: true, entries: 0, head: null, firstBad: null }),
    record: async () => undefined,
  }
}
