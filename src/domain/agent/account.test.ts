import { describe, expect, it } from 'vitest'
import { accountOf } from './account.ts'
import { ResolvedAgent } from './agent-config.ts'

const agent = (more: Partial<ResolvedAgent> = {}): ResolvedAgent =>
  ResolvedAgent.parse({ name: 'claude', adapter: 'claude-code', ...more })

describe('the account of an agent', () => {
  it('is shared by agents that differ only in what they are called, which model they use and what they may do', () => {
    expect(accountOf(agent({ name: 'reviewer', model: 'opus', profile: 'strict' }))).toBe(accountOf(agent()))
    expect(accountOf(agent())).toBe('claude-code · login')
  })

  it('differs by program, endpoint, variable and file of the key', () => {
    const accounts = [
      agent(),
      agent({ adapter: 'codex' }),
      agent({ baseUrl: 'https://models.example/v1' }),
      agent({ auth: { env: ['TEAM_KEY'] } }),
      agent({ auth: { env: ['OTHER_KEY'] } }),
      agent({ auth: { file: '/keys/team' } }),
    ].map(accountOf)
    expect(new Set(accounts).size).toBe(accounts.length)
  })

  it('is its own for a program that we do not know, unless it says where its key comes from', () => {
    const custom = (name: string, more: Partial<ResolvedAgent> = {}) => accountOf(agent({ name, adapter: 'custom', ...more }))
    expect(custom('mail')).not.toBe(custom('build'))
    expect(custom('mail', { auth: { env: ['TEAM_KEY'] } })).toBe(custom('build', { auth: { env: ['TEAM_KEY'] } }))
  })

  it('is one for an endpoint that is written with and without a slash at its end', () => {
    expect(accountOf(agent({ baseUrl: 'https://models.example/v1/' }))).toBe(
      accountOf(agent({ baseUrl: 'https://models.example/v1' })),
    )
  })

  it('holds no secret, and keeps agents apart whose keys stand in their settings', () => {
    const one = accountOf(agent({ name: 'a', env: { pass: [], set: { ANTHROPIC_API_KEY: 'sk-one' } } }))
    const two = accountOf(agent({ name: 'b', env: { pass: [], set: { ANTHROPIC_API_KEY: 'sk-two' } } }))
    const inside = accountOf(agent({ baseUrl: 'https://user:hunter2@models.example/?token=sk-three' }))
    expect(one).not.toBe(two)
    expect([one, two, inside].join(' ')).not.toMatch(/sk-|hunter2|user/)
  })
})
