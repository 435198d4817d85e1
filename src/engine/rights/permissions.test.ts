import { expect, test } from 'vitest'
import { type ProfileSettings, resolveProfile } from '../../domain/profile/resolve.ts'
import type { ExactCall, QuestionAsked } from '../../domain/question/question.ts'
import { readPermission } from '../questions/permission-answers.ts'
import { exactCall } from './exact-call.ts'
import type { Grants } from './grants.ts'
import { createPermissions, type PermissionDecided, type PermissionParts } from './permissions.ts'

const bash = (command: string, more = {}) => ({ tool: 'Bash', input: { command, ...more } })
const rules: ProfileSettings = {
  rules: { allow: ['Bash(ls:*)'], ask: ['Bash(git push:*)'], deny: ['Bash(rm:*)'], otherwise: 'allow' },
}

interface Decided {
  readonly call: ExactCall
  readonly answer: string
}

/** What was decided before, as the store keeps it: what counts once is gone when it was used. */
function grantsIn(decided: readonly Decided[]): Grants {
  const left = [...decided]
  return {
    async use(call) {
      const index = left.findIndex((each) => each.call.tool === call.tool && each.call.inputDigest === call.inputDigest)
      if (index === -1) return undefined
      const { isOnce, ...grant } = readPermission(left[index]!.answer)
      if (isOnce) left.splice(index, 1)
      return grant
    },
  }
}

/** A run under a profile, with what it asked and why it was ended. */
function run(settings: ProfileSettings = rules, decided: readonly Decided[] = [], more: Partial<PermissionParts> = {}) {
  const asked: (QuestionAsked & { call: ExactCall })[] = []
  const ended: string[] = []
  const told: PermissionDecided['data'][] = []
  const permissions = createPermissions({
    profile: resolveProfile('mine', { mine: settings }),
    workspace: '/w',
    walls: { enforced: true },
    grants: grantsIn(decided),
    async ask(question, call) {
      asked.push({ ...question, call })
      return undefined
    },
    redact: (text) => text,
    interrupt: (message) => void ended.push(message),
    record: ({ data }) => void told.push(data),
    ...more,
  })
  return { permissions, asked, ended, told }
}

test('what is allowed is allowed, and a refusal says which rule, what else is possible, and what the sandbox is', async () => {
  const { permissions, asked, ended } = run({ ...rules, mounts: [mount('/data', 'ro'), mount('/out', 'rw')] })
  expect(await permissions.permit(bash('ls -l'))).toEqual({ allow: true })
  expect(await permissions.permit(bash('rm -rf x'))).toEqual({
    allow: false,
    message:
      'Denied: The rule deny Bash(rm:*) of profile "mine" is about it. Allowed are: Bash(ls:*). Sandbox policy: file sandboxing is on, network sandboxing is on. Writable: /w, /out. Read-only: /data. Do not try to get around it.',
  })
  expect({ asked, ended, denials: permissions.denials }).toEqual({ asked: [], ended: [], denials: 1 })
})

test('the sandbox is told as it is, under our own names too, and only for tools that touch it', async () => {
  const deny = { rules: { deny: ['mcp__x__y', 'Read'] } }
  const messageOf = async (tool: string, more: Partial<PermissionParts> = {}) => {
    const permission = await run(deny, [], more).permissions.permit({ tool, input: { file_path: 'a' } })
    return permission.allow ? '' : permission.message
  }
  expect(await messageOf('mcp__pawl__Read')).toContain('file sandboxing is on')
  expect(await messageOf('Read', { walls: { enforced: false } })).toContain('file sandboxing is off, network sandboxing is off')
  expect(await messageOf('mcp__x__y')).not.toContain('sandbox')
})

test('three refusals of one tool end the run, and the one before warns', async () => {
  const { permissions, ended } = run()
  await permissions.permit(bash('rm a'))
  expect(await permissions.permit({ tool: 'shell', input: { command: 'rm b' } })).toMatchObject({
    message: expect.stringContaining('One more refused call ends the run'),
  })
  expect(ended).toEqual([])
  expect(await permissions.permit(bash('rm c'))).toMatchObject({
    message: expect.stringMatching(/the run ends here: .*Allowed are: Bash\(ls:\*\)\./),
  })
  expect(ended).toEqual([
    'The agent was refused 3 calls of Bash under the profile "mine". The last one: Bash(rm c). The rule deny Bash(rm:*) of profile "mine" is about it. Allowed are: Bash(ls:*).',
  ])
})

test('six refusals in all end the run', async () => {
  const { permissions, ended } = run({ rules: { deny: ['*'] } })
  for (const tool of ['Bash', 'Read', 'Write', 'Glob', 'Bash']) await permissions.permit({ tool, input: {} })
  expect(ended).toEqual([])
  await permissions.permit({ tool: 'Grep', input: {} })
  expect(ended).toEqual([expect.stringContaining('refused 6 calls')])
})

test('a call that asks to get around the sandbox is refused at once, whatever the rules allow', async () => {
  const { permissions } = run({ rules: { allow: ['Bash'] } })
  expect(await permissions.permit(bash('ls', { dangerouslyDisableSandbox: true }))).toMatchObject({
    allow: false,
    message: expect.stringContaining('asks to get around the sandbox ("dangerouslyDisableSandbox")'),
  })
})

test('a call that needs a person becomes a question, and is refused until there is an answer', async () => {
  const { permissions, asked, ended } = run()
  for (const line of ['git push', 'git push', 'git push', 'git push'])
    expect(await permissions.permit(bash(line))).toMatchObject({
      allow: false,
      asked: true,
      message: expect.stringMatching(/^This needs the permission of a person, who was asked\. Stop here/),
    })
  expect(asked[0]).toEqual({
    kind: 'permission',
    text: 'May the agent do this? (profile "mine")\n\nBash(git push)\n\nThe rule ask Bash(git push:*) of profile "mine" is about it.',
    options: ['Allow once', 'Allow for this task', 'Deny'],
    call: exactCall(bash('git push')),
  })
  expect({ ended, denials: permissions.denials }).toEqual({ ended: [], denials: 0 })
})

test('the continued run decides the same call by the answer: once, for the task, or not at all', async () => {
  const first = run()
  await first.permissions.permit(bash('git push', { description: 'one' }))
  const { call } = first.asked[0]!
  const again = (answer: string) => run(rules, [{ call, answer }])
  const allows = async (next: ReturnType<typeof run>, line = 'git push') =>
    (await next.permissions.permit(bash(line, { description: 'two' }))).allow

  const once = again('Allow once')
  expect([await allows(once), await allows(once), once.asked.length]).toEqual([true, false, 1])
  const task = again('allow for this task')
  expect([await allows(task), await allows(task), await allows(task, 'git push -f'), task.asked.length]).toEqual([
    true,
    true,
    false,
    1,
  ])
  const denied = again('not before friday')
  expect(await denied.permissions.permit(bash('git push'))).toMatchObject({
    allow: false,
    message: expect.stringContaining('A person said no to this: not before friday'),
  })
  expect([denied.asked.length, denied.permissions.denials]).toEqual([0, 1])
})

test('a decision is for exactly one input: all of it, but for the words in which a program explains itself', () => {
  const digest = (input: object, tool = 'Bash') => exactCall({ tool, input }).inputDigest
  expect(digest({ command: 'a', description: 'x', timeout: 1 })).toBe(digest({ timeout: 1, command: 'a', description: 'y' }))
  expect(digest({ command: 'a', timeout: 1 })).not.toBe(digest({ command: 'a', timeout: 2 }))
  expect(digest({ command: 'a', cwd: '/w' }, 'shell')).not.toBe(digest({ command: 'a', cwd: '/x' }, 'shell'))
  expect(digest({ title: 'a', description: 'x' }, 'mcp__tracker__open')).not.toBe(
    digest({ title: 'a', description: 'y' }, 'mcp__tracker__open'),
  )
  expect(exactCall(bash('a')).tool).toBe(exactCall({ tool: 'mcp__pawl__Bash', input: {} }).tool)
})

test('an answer that comes while somebody watches decides at once', async () => {
  const live = (answer: string) => {
    const decided: Decided[] = []
    const grants: Grants = { use: (call) => grantsIn(decided).use(call) }
    const ask: PermissionParts['ask'] = async (_, call) => {
      decided.push({ call, answer })
      return [answer]
    }
    return run(rules, [], { grants, ask }).permissions.permit(bash('git push'))
  }
  expect(await live('Allow once')).toEqual({ allow: true })
  expect(await live('no')).toMatchObject({ allow: false, message: expect.stringContaining('A person said no to this.') })
})

test('two long commands that begin alike are two questions', async () => {
  const { permissions, asked } = run()
  await permissions.permit(bash(`git push ${'a'.repeat(5_000)}1`))
  await permissions.permit(bash(`git push ${'a'.repeat(5_000)}2`))
  expect(asked[0]?.text).not.toBe(asked[1]?.text)
  expect(asked[0]?.text.length).toBeLessThan(16_384)
})

test('a yes of a person counts for the call, whether or not the program asked before it came', async () => {
  const first = run()
  const call = { tool: 'mcp__pawl__Bash', input: { command: 'git push' } }
  await first.permissions.permit(call)
  const answered = [{ call: first.asked[0]!.call, answer: 'Allow once' }]
  const allowed = async (steps: ('permit' | 'admit')[]) => {
    const { permissions } = run(rules, answered)
    const verdicts: boolean[] = []
    for (const step of steps) verdicts.push((await permissions[step](call)).allow)
    return verdicts
  }
  expect(await allowed(['permit', 'admit', 'admit'])).toEqual([true, true, false])
  expect(await allowed(['admit', 'admit'])).toEqual([true, false])
  expect(await allowed(['permit', 'admit', 'permit'])).toEqual([true, true, false])
})

test('a yes that waits for its call is not used up by another call about the same file', async () => {
  const writing = (content: string) => ({ tool: 'mcp__pawl__Write', input: { file_path: '/w/a', content } })
  const asking: ProfileSettings = { rules: { ask: ['Write'] } }
  const { permissions } = run(asking, [{ call: exactCall(writing('good')), answer: 'Allow once' }])
  expect(await permissions.permit(writing('good'))).toEqual({ allow: true })
  expect((await permissions.admit(writing('bad'))).allow).toBe(false)
  expect(await permissions.admit(writing('good'))).toEqual({ allow: true })
})

test('a person sees where a command would be run, and how much of it is not shown', async () => {
  const { permissions, asked } = run()
  await permissions.permit({ tool: 'shell', input: { command: 'git push', cwd: '/elsewhere' } })
  await permissions.permit({ tool: 'shell', input: { command: 'git push', cwd: '/w' } })
  await permissions.permit(bash(`git push ${'a'.repeat(5_000)}`))
  expect(asked.map(({ text }) => text)).toEqual([
    expect.stringContaining('Bash(git push [in the folder /elsewhere])'),
    expect.stringContaining('Bash(git push)'),
    expect.stringContaining('…) [1009 more characters are not shown; sha256 '),
  ])
})

test('refusals, and what a person allowed, are told to the journal', async () => {
  const first = run()
  await first.permissions.permit(bash('ls'))
  await first.permissions.permit(bash('rm a'))
  await first.permissions.permit(bash('git push'))
  expect(first.told).toEqual([
    {
      verdict: 'denied',
      tool: 'Bash',
      call: 'Bash(rm a)',
      rule: 'Bash(rm:*)',
      from: 'rules.deny',
      why: 'The rule deny Bash(rm:*) of profile "mine" is about it.',
    },
  ])
  const next = run(rules, [{ call: first.asked[0]!.call, answer: 'yes' }])
  await next.permissions.permit(bash('git push'))
  expect(next.told).toEqual([
    { verdict: 'allowed', tool: 'Bash', call: 'Bash(git push)', rule: undefined, from: 'answer', why: 'A person allowed this.' },
  ])
})

test('two runs share nothing', async () => {
  const [one, two] = [run(), run()]
  for (const line of ['rm a', 'rm b', 'rm c']) await one.permissions.permit(bash(line))
  expect([one.ended.length, two.ended.length, two.permissions.denials]).toEqual([1, 0, 0])
})

function mount(path: string, mode: 'ro' | 'rw') {
  return { name: path, description: '', source: path, path, mode, persistent: false, required: true }
}
