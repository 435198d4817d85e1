import type { AuditVerdict, AuditView } from '../../domain/auth/audit.ts'
import type { SecretView } from '../../domain/auth/secret.ts'
import type { MadeToken, Me, NewToken, NewUser, SignInCode, TokenView, UserChanges, UserView } from '../../domain/auth/token.ts'
import type { Page } from '../../domain/view/view.ts'
import { api, type Wire } from '../transport/wire.ts'

/** Who may come in, what only they may know, and what they did. */
export interface EntranceCalls {
  /** As whom this client comes in. */
  me(): Promise<Me>
  listUsers(): Promise<UserView[]>
  createUser(user: NewUser): Promise<UserView>
  setUser(name: string, changes: UserChanges): Promise<UserView>
  removeUser(name: string): Promise<void>
  listTokens(filter?: { user?: string | undefined; all?: boolean | undefined }): Promise<TokenView[]>
  /** The text of the token is in the answer and nowhere else. */
  createToken(token: NewToken): Promise<MadeToken>
  revokeToken(id: string): Promise<TokenView>
  createSignInCode(how?: { opens?: boolean | undefined }): Promise<SignInCode>
  /** Names and scopes; a value that went in never comes out. Scopes are `global`, `agent:NAME` and `user:NAME`. */
  listSecrets(): Promise<SecretView[]>
  getSecret(scope: string, name: string): Promise<SecretView>
  setSecret(scope: string, name: string, value: string): Promise<SecretView>
  removeSecret(scope: string, name: string): Promise<void>
  listAudit(filter?: ListAudit): Promise<Page<AuditView>>
  verifyAudit(options?: { contains?: string | undefined }): Promise<AuditVerdict>
}

export interface ListAudit {
  readonly actor?: string | undefined
  readonly action?: string | undefined
  readonly limit?: number | undefined
  readonly cursor?: string | undefined
}

export const entranceCalls = ({ get, post, call }: Wire): EntranceCalls => ({
  me: () => get(`${api}/me`),
  listUsers: async () => (await get<Page<UserView>>(`${api}/users`)).items,
  createUser: (user) => post(`${api}/users`, user, false),
  setUser: async (name, body) => (await call<UserView>('PATCH', userPath(name), { body })).value,
  removeUser: async (name) => void (await call('DELETE', userPath(name), { repeatable: false })),
  listTokens: async ({ user, all } = {}) =>
    (await get<Page<TokenView>>(`${api}/tokens`, { user, all: all ? 'true' : undefined })).items,
  createToken: (token) => post(`${api}/tokens`, token, false),
  revokeToken: async (id) => (await call<TokenView>('DELETE', `${api}/tokens/${encodeURIComponent(id)}`)).value,
  createSignInCode: (how = {}) => post(`${api}/sign-in-codes`, how, false),
  listSecrets: async () => (await get<Page<SecretView>>(`${api}/secrets`)).items,
  getSecret: (scope, name) => get(secretPath(scope, name)),
  setSecret: async (scope, name, value) => (await call<SecretView>('PUT', secretPath(scope, name), { body: { value } })).value,
  removeSecret: async (scope, name) => void (await call('DELETE', secretPath(scope, name), { repeatable: false })),
  listAudit: (filter = {}) => get(`${api}/audit`, { ...filter }),
  verifyAudit: ({ contains } = {}) => get(`${api}/audit/verify`, { contains }),
})

const userPath = (name: string) => `${api}/users/${encodeURIComponent(name)}`
const secretPath = (scope: string, name: string) => `${api}/secrets/${encodeURIComponent(scope)}/${encodeURIComponent(name)}`
