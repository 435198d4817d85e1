import { expect, test } from 'vitest'
import { parseRule } from '../rule/rule.ts'
import { profileDigest } from './digest.ts'
import { mountLines } from './mounts.ts'
import type { Profile } from './profile.ts'
import { profileNames } from './profile.ts'
import { mergeEnvironments, type ProfileSettings, resolveProfile, rightsOf } from './resolve.ts'
import { restricted } from './restrict.ts'
import { ProfileSchema } from './schema.ts'
import { isNotWider, widerIn } from './width.ts'

const mount = (path: string, mode: 'ro' | 'rw' = 'ro', source = path) => ({
  name: path,
  description: '',
  source,
  path,
  mode,
  persistent: false,
  required: true,
})
const mine = (settings: ProfileSettings) => resolveProfile('mine', { mine: settings })

test('the built-in profiles are whole, each not wider than the next', () => {
  const all = profileNames.map((name) => resolveProfile(name))
  for (const profile of all) {
    expect(ProfileSchema.parse(profile)).toEqual(profile)
    for (const rule of Object.values(profile.rules).flat()) expect(parseRule(rule)).toHaveProperty('rule')
  }
  expect(
    all.map((profile) => [profile.walls, profile.instructions, profile.tools.native, profile.network.allow.length > 0]),
  ).toEqual([
    [true, false, false, false],
    [true, true, true, true],
    [true, true, true, true],
    [false, true, true, true],
  ])
  for (const [index, profile] of all.entries())
    for (const [other, wider] of all.entries())
      expect([profile.name, wider.name, isNotWider(profile, wider)]).toEqual([profile.name, wider.name, index <= other])
})

test('lists add, deny only grows, single values replace', () => {
  const profiles = {
    team: {
      rules: { allow: ['Read'], deny: ['Bash(rm:*)'], otherwise: 'ask' },
      network: { allow: ['a.example'] },
      limits: { memoryMb: 100 },
      skills: ['x', 'y'],
    },
    mine: {
      extends: 'team',
      rules: { allow: ['Glob', 'Read'], deny: [] },
      network: { deny: ['b.example'] },
      limits: { processes: 5 },
      skills: ['y'],
      instructions: false,
    },
  } satisfies Record<string, ProfileSettings>
  const { rules, otherwise, network, limits, skills, instructions, base, name } = resolveProfile('mine', profiles)
  const guarded = resolveProfile('guarded')
  expect({ rules, otherwise, network, limits, skills, instructions, base, name }).toEqual({
    rules: { allow: ['Read', 'Glob'], ask: [], deny: ['request_permissions', 'Bash(rm:*)'] },
    otherwise: 'ask',
    network: { allow: [...guarded.network.allow, 'a.example'], ask: [], deny: ['b.example'] },
    limits: { ...guarded.limits, memoryMb: 100, processes: 5 },
    skills: ['y'],
    instructions: false,
    base: 'guarded',
    name: 'mine',
  })
})

test('what is missing, goes in circles, or would take walls down is refused by name', () => {
  expect(() => resolveProfile('gaurded')).toThrow('There is no profile "gaurded"; did you mean "guarded"?')
  expect(() => mine({ extends: 'strct' })).toThrow('Profile "mine" extends "strct", which does not exist; did you mean "strict"?')
  expect(() => resolveProfile('a', { a: { extends: 'b' }, b: { extends: 'a' } })).toThrow(
    'Profile "a" extends itself: a → b → a.',
  )
  expect(() => mine({ walls: false })).toThrow('only one that extends unattended-open has none')
  expect(mine({ extends: 'unattended-open' }).walls).toBe(false)
  expect(mine({ extends: 'unattended-open', walls: true }).walls).toBe(true)
  expect(() => mine({ trusted: [{ path: '/a', digest: 'sha256:x' }] })).toThrow('must extend trusted-repo')
  expect(() => resolveProfile('constructor')).toThrow('There is no profile "constructor"')
})

test('a path is mounted once: the own mount replaces that of the base, and twice in one profile is refused', () => {
  const profiles = {
    team: { mounts: [mount('/data'), mount('/data/x', 'rw')] },
    mine: { extends: 'team', mounts: [mount('/data', 'rw'), mount('/a')] },
  }
  expect(resolveProfile('mine', profiles).mounts.map(({ path, mode }) => [path, mode])).toEqual([
    ['/a', 'ro'],
    ['/data', 'rw'],
    ['/data/x', 'rw'],
  ])
  expect(() => mine({ mounts: [mount('/a'), mount('/a', 'rw')] })).toThrow('mounts /a twice')
})

test('an agent without a copy of its profile has the built-in one that it names', () => {
  expect(rightsOf({ profile: 'strict' })).toEqual(resolveProfile('strict'))
  const own = mine({ instructions: false })
  expect(rightsOf({ profile: 'mine', rights: own })).toBe(own)
})

test('variables of every run are the ground, and later ones win name by name', () => {
  const env = { pass: ['A', 'B'], set: { C: 'ground', D: 'ground' } }
  expect(resolveProfile('mine', { mine: { env: { pass: ['C'], set: { A: 'mine' } } } }, { env }).env).toEqual({
    pass: ['B', 'C'],
    set: { D: 'ground', A: 'mine' },
  })
  expect(mergeEnvironments(undefined, { pass: ['A'], set: {} }, undefined)).toEqual({ pass: ['A'], set: {} })
})

test('the digest is that of the content: neither the name nor the order of keys counts, everything else does', async () => {
  const guarded = resolveProfile('guarded')
  const renamed = Object.fromEntries(Object.entries({ ...guarded, name: 'other' }).reverse()) as unknown as Profile
  expect(await profileDigest(guarded)).toMatch(/^sha256:[0-9a-f]{64}$/)
  expect(await profileDigest(renamed)).toBe(await profileDigest(guarded))
  expect(await profileDigest({ ...guarded, instructions: false })).not.toBe(await profileDigest(guarded))
})

test.for([
  ['rules', { rules: { otherwise: 'ask', allow: ['Read'] } }, { rules: { otherwise: 'ask' } }],
  ['otherwise', { rules: { otherwise: 'allow' } }, { rules: { otherwise: 'ask' } }],
  ['rules', {}, { rules: { deny: ['Bash'] } }],
  ['rules', {}, { rules: { ask: ['Bash'] } }],
  ['tools', {}, { tools: { disabled: ['Bash'] } }],
  ['mounts', { mounts: [mount('/a')] }, {}],
  ['mounts', { mounts: [mount('/a', 'rw')] }, { mounts: [mount('/a')] }],
  ['mounts', { mounts: [mount('/a', 'ro', '/b')] }, { mounts: [mount('/a')] }],
  ['network', { network: { allow: ['x'] } }, {}],
  ['network', { network: { ask: ['x'] } }, {}],
  ['network', {}, { network: { deny: ['x'] } }],
  ['env', { env: { pass: ['A'], set: {} } }, {}],
  ['env', { env: { pass: [], set: { A: '1' } } }, { env: { pass: [], set: { A: '2' } } }],
  ['secrets', { secrets: [{ name: 'a', variable: 'A' }] }, {}],
  ['limits', { limits: { memoryMb: 5_000 } }, {}],
  ['skills', {}, { skills: ['x'] }],
  ['subagents', { subagents: ['y'] }, { subagents: ['x'] }],
  ['instructions', {}, { instructions: false }],
  ['nestedNamespaces', { nestedNamespaces: true }, {}],
  ['ssh', { ssh: { hosts: [], mode: 'readonly', level: 0 } }, {}],
] as [string, ProfileSettings, ProfileSettings][])('%s can make a profile wider: %j than %j', ([setting, wider, narrow]) => {
  expect(widerIn(mine(wider), mine(narrow))).toContain(setting)
  expect(isNotWider(mine(wider), mine(narrow))).toBe(false)
  expect(isNotWider(mine(narrow), mine(narrow))).toBe(true)
})

test('a stored profile without walls must stand on unattended-open, and a setting nobody knows is refused', () => {
  const guarded = resolveProfile('guarded')
  expect(ProfileSchema.safeParse({ ...guarded, walls: false }).success).toBe(false)
  expect(ProfileSchema.safeParse({ ...guarded, wals: true }).success).toBe(false)
  expect(ProfileSchema.safeParse({ ...guarded, mounts: [mount('relative')] }).success).toBe(false)
})

test('mounts are told to the agent', () => {
  const { mounts } = mine({
    mounts: [mount('/data', 'rw', '/srv/data'), { ...mount('/data/ref'), description: 'tables', persistent: true }],
  })
  expect(mountLines(mounts, { enforced: true })).toEqual([
    '- /data (may be written; the user knows it as /srv/data): /data',
    '- /data/ref (read-only, kept between tasks): /data/ref, tables',
  ])
})

test('a rule for every name covers names, not addresses or what lies on this machine', () => {
  const open = { ...resolveProfile('unattended-open'), network: { allow: ['*'], ask: [], deny: [] } }
  const reaching = (...allow: string[]) => ({ ...open, network: { allow, ask: [], deny: [] } })
  expect(isNotWider(reaching('example.com', '*.example.com:8443'), open)).toBe(true)
  for (const rule of ['127.0.0.1:80', '10.0.0.1', '[::1]:80', 'db.internal.example local', '2130706433'])
    expect([rule, isNotWider(reaching(rule), open)]).toEqual([rule, false])
  expect(isNotWider(reaching('a.example'), { ...open, network: { allow: ['*'], ask: ['*.example'], deny: [] } })).toBe(false)
})

test('a mount of the user and an alias are told as such', () => {
  const own = { ...mount('/notes', 'rw'), from: 'user' as const, persistent: true }
  const named = { ...mount('/srv/shop'), alias: '/mnt/shop' }
  expect(mountLines([own, named], { enforced: true })).toEqual([
    '- /notes (may be written, of this user, kept between tasks): /notes',
    '- /srv/shop, also /mnt/shop (read-only): /srv/shop',
  ])
  expect(mountLines([named], { enforced: false })).toEqual(['- /srv/shop (not to be written): /srv/shop'])
})

test('a profile keeps its own mount where a task or its user brings one for the same path, and never gets wider by it', () => {
  const profile = mine({ mounts: [mount('/data')] })
  const brought = { ...mount('/data', 'rw'), from: 'user' as const }
  expect(restricted(profile, { mounts: [brought, { ...mount('/more', 'rw'), from: 'user' }] }).mounts).toEqual([
    mount('/data'),
    { ...mount('/more', 'rw'), from: 'user' },
  ])
  expect(() => restricted(profile, { mounts: [{ ...brought, from: 'task' }] })).toThrow('/data is read-only under the profile')
  const aliased = { ...mount('/data'), from: 'task' as const, alias: '/mnt/d' }
  expect(restricted(profile, { mounts: [aliased] }).mounts).toEqual([{ ...mount('/data'), alias: '/mnt/d' }])
})

test('without walls nothing is said to be read-only', () => {
  const { mounts } = mine({ mounts: [mount('/data')] })
  expect(mountLines(mounts, { enforced: false })).toEqual(['- /data (not to be written): /data'])
})
