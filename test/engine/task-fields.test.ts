import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ResolvedAgent } from '../../src/domain/agent/agent-config.ts'
import { rightsOf } from '../../src/domain/profile/resolve.ts'
import type { NewTask } from '../../src/domain/view/view.ts'
import { findTask } from '../../src/store/tasks.ts'
import { commandAgent } from './home.ts'
import { makeVerbs } from './verbs.ts'

const agents = [
  ResolvedAgent.parse({ name: 'claude', adapter: 'claude-code', options: {}, budget: { usd: 5, turns: 50 } }),
  ResolvedAgent.parse({ name: 'codex', adapter: 'codex', options: {} }),
  ResolvedAgent.parse({ name: 'wide', adapter: 'codex', options: {}, profile: 'unattended-open' }),
  commandAgent(['true']),
].map((agent) => ({ ...agent, options: agent.adapter === 'custom' ? agent.options : {} }))

describe('what a task says', () => {
  let parts: Awaited<ReturnType<typeof makeVerbs>>
  let close: (() => Promise<void>) | undefined
  const folder = mkdtempSync(join(tmpdir(), 'pawl-context-'))
  beforeAll(async () => {
    parts = await makeVerbs({
      agents,
      onEnd: (end) => {
        close = end
      },
    })
  })
  afterAll(async () => {
    await close?.()
    rmSync(folder, { recursive: true })
  })
  const add = (task: Partial<NewTask>) => parts.add({ agent: 'claude', ...task })
  const rowOf = async (id: string) => (await findTask(parts.db, id))!

  it('is stored whole, decided, and shown', async () => {
    symlinkSync(folder, `${folder}-link`)
    const made = await add({
      ...{ name: 'nightly', model: 'opus', priority: 3, tags: ['a'], timeoutMs: 60_000, extraArgs: ['--betas', 'x'] },
      ...{ contextDirs: [`${folder}-link`], allowedTools: ['Read'], disallowedTools: ['Bash'], appendSystemPrompt: 'Be brief.' },
      budget: { usd: 2, tokens: 1_000, wallMs: 60_000, perRunUsd: 1 },
      retry: { attempts: 7, backoff: 'linear', baseDelayMs: 5 },
      ...{ review: true, skipPlanning: true },
      checks: { commands: [{ run: 'true' }], attempts: 1 },
      questions: { deadlineMs: 1_000, afterDeadline: { kind: 'fail' } },
      subtasks: { most: 1, depth: 1, budgetShare: 0.1, whenDone: 'review' },
    })
    expect(made).toMatchObject({
      name: 'nightly',
      settings: {
        ...{ model: 'opus', profile: 'guarded', timeoutMs: 60_000, extraArgs: ['--betas', 'x'] },
        budget: { usd: 2, turns: 50, tokens: 1_000, wallMs: 60_000, perRunUsd: 1 },
        retry: { attempts: 7, backoff: 'linear', baseDelayMs: 5, maxDelayMs: 600_000 },
        ...{ contextDirs: [folder], allowedTools: ['Read'], disallowedTools: ['Bash'], appendSystemPrompt: 'Be brief.' },
        ...{ review: true, skipPlanning: true },
      },
    })
    const row = await rowOf(made.id)
    expect(row.account).toBe('claude-code · login')
    const rights = rightsOf(row.agent_config)
    expect(rights.rules.deny).toContain('Bash')
    expect(rights.mounts).toContainEqual(expect.objectContaining({ source: folder, path: folder, mode: 'ro' }))
    rmSync(`${folder}-link`)
  })

  it('is run once or tried several times, not both', async () => {
    await expect(add({ once: true, retry: { attempts: 3 } })).rejects.toMatchObject({
      code: 'invalid',
      message: expect.stringContaining('leave out --once, or --attempts'),
    })
    expect((await add({ once: true })).settings).toMatchObject({ once: true })
    expect((await add({ once: true, retry: { attempts: 1 } })).settings).toMatchObject({ once: true })
  })

  it('holds the agents that go on for it as well', async () => {
    const { id } = await add({ failover: ['codex'], disallowedTools: ['Bash'], budget: { usd: 1 }, timeoutMs: 5_000 })
    const { spec } = await rowOf(id)
    expect(spec.failover).toMatchObject([{ name: 'codex', budget: { usd: 1 }, timeoutMs: 5_000 }])
    expect(rightsOf(spec.failover![0]!).rules.deny).toContain('Bash')
  })

  const limits = { most: 1, depth: 1, budgetShare: 0.1, whenDone: 'continue' as const }
  const unanswered = (to: { agent?: string; webhook?: string }): Partial<NewTask> => ({
    questions: { deadlineMs: 1_000, afterDeadline: { kind: 'escalate', ...to } },
  })
  const mayAnswer = (...named: string[]): Partial<NewTask> => ({
    questions: { mayAnswer: named, afterDeadline: { kind: 'deny' } },
  })
  const refusals: [what: string, task: Partial<NewTask>, says: string | RegExp][] = [
    ['an agent to go on that is not there', { failover: ['codx'] }, 'There is no agent "codx"; did you mean "codex"?'],
    ['one that cannot be told a conversation', { failover: ['helper'] }, /Agent "helper" cannot go on with a conversation/],
    [
      'one that may do more',
      { failover: ['wide'] },
      /Agent "wide" cannot go on for "claude": its profile "unattended-open" allows more/,
    ],
    ['one that cannot be held to the rest', { failover: ['codex'], allowedTools: ['Read'] }, 'Codex takes no list of tools'],
    ['one that is named twice', { failover: ['codex', 'codex'] }, 'named twice'],
    ['one after an agent without conversations', { agent: 'helper', failover: ['codex'] }, 'keeps no conversation'],
    ['a disallowed tool that is no rule', { disallowedTools: ['Bash('] }, '"Bash(" of disallowedTools must be written Tool'],
    ['a misspelt tool', { disallowedTools: ['Bassh'] }, 'did you mean "Bash"?'],
    ['tools of a plain command', { agent: 'helper', disallowedTools: ['Bash'] }, 'has no tools that Pawl knows of'],
    ['a system prompt that a command cannot take', { agent: 'helper', appendSystemPrompt: 'x' }, 'takes no system prompt'],
    ['free tools of codex', { agent: 'codex', allowedTools: ['Bash'] }, 'Codex takes no list of tools'],
    [
      'an argument that takes the walls away',
      { extraArgs: ['--dangerously-skip-permissions'] },
      'cannot be given to Claude Code',
    ],
    ['a folder that is not there', { contextDirs: ['/not/there'] }, 'The context folder /not/there is not there'],
    ['a relative folder and no workspace', { contextDirs: ['docs'] }, 'must be an absolute path'],
    ['a mount that nobody offers', { mounts: [{ base: 'projects' }] }, 'There is no mount "projects"'],
    [
      'a parent that is not there',
      { parent: 't_000000000000000000' },
      'There is no task t_000000000000000000 that this one could be a part of',
    ],
    ['an agent for subtasks that is not there', { subtasks: { ...limits, agents: ['codx'] } }, 'did you mean "codex"?'],
    ['an agent to escalate to that is not there', unanswered({ agent: 'codx' }), 'There is no agent "codx"'],
    ['a notification that is not there', unanswered({ webhook: 'opps' }), /no notification "opps".*did you mean "ops"\?/],
    ['nobody to escalate to', unanswered({}), 'nobody is named'],
    ['a user who is not there', mayAnswer('nobody'), 'There is no user "nobody"'],
    ['a role that is not there', mayAnswer('role:admn'), 'did you mean "admin"?'],
  ]
  it('may name those who are there', async () => {
    await add(unanswered({ agent: 'codex', webhook: 'ops' }))
    await add(mayAnswer('local', 'role:operator'))
  })
  it.each(refusals)('is refused if it names %s', async (_, task, says) => {
    await expect(add(task)).rejects.toThrow(says)
  })

  it('sees relative folders from its workspace, absolute ones as they are', async () => {
    const workspace = mkdtempSync(join(folder, 'at-'))
    for (const name of ['docs', 'more']) mkdirSync(join(workspace, name))
    mkdirSync(join(folder, 'beside'))
    const { id } = await add({ workspace, contextDirs: ['docs', './more', '../beside', join(workspace, 'docs')] })
    const at = (name: string) => join(realpathSync(workspace), name)
    const wanted = [at('docs'), at('more'), join(realpathSync(folder), 'beside')]
    const { mounts } = rightsOf((await rowOf(id)).agent_config)
    expect(mounts.map(({ path }) => path)).toEqual(expect.arrayContaining(wanted))
    expect(mounts.filter(({ path }) => path === at('docs'))).toHaveLength(1)
  })

  it('shows nothing of Pawl itself, nor what holds the workspace', async () => {
    await expect(add({ contextDirs: [parts.home.path] })).rejects.toThrow("would show Pawl's own files")
    const inner = mkdtempSync(join(folder, 'ws-'))
    await expect(add({ workspace: inner, contextDirs: [folder] })).rejects.toThrow('holds the workspace itself')
  })

  it('may spend less than the agent may, and more only for those who answer for it', async () => {
    const { verbs } = parts
    const make = (standing: 'operator' | 'hook', usd: number) =>
      verbs.createTask({ prompt: 'x', agent: 'claude', budget: { usd } }, { by: 'test', standing })
    expect((await make('hook', 4)).task.settings.budget).toEqual({ usd: 4, turns: 50 })
    expect((await make('operator', 9)).task.settings.budget.usd).toBe(9)
    await expect(make('hook', 9)).rejects.toThrow('A token of kind hook may not raise budget.usd')
    await expect(
      verbs.createTask({ prompt: 'x', agent: 'claude', contextDirs: [folder] }, { by: 'test', standing: 'hook' }),
    ).rejects.toThrow('may not choose "contextDirs"')
    await expect(
      verbs.createTask({ prompt: 'x', agent: 'claude', contextDirs: [folder] }, { by: 'test', standing: 'operator' }),
    ).rejects.toThrow(/server\.workspaces/)
  })

  it('knows the place of a subtask in its tree, which cannot depend on what it is a part of', async () => {
    const top = await add({})
    const middle = await add({ parent: top.id })
    const { id } = await add({ parent: middle.id })
    expect(await rowOf(id)).toMatchObject({ parent_id: middle.id, root_id: top.id, depth: 2 })
    await expect(add({ parent: middle.id, dependsOn: [top.id] })).rejects.toThrow('waits for its subtasks')
  })

  it('stays when it is tried again, but for caps that are raised', async () => {
    const { verbs, caller, end } = parts
    const { id } = await add({ disallowedTools: ['Bash'], budget: { usd: 1 }, failover: ['codex'], name: 'x' })
    await end(id, 'failed', 'exit_code')
    const before = await rowOf(id)
    const again = await verbs.retryTask(id, { ...caller, budget: { usd: 3, tokens: 10 }, timeoutMs: 0 })
    expect(again).toMatchObject({ state: 'queued', settings: { budget: { usd: 3, tokens: 10, turns: 50 }, timeoutMs: null } })
    const after = await rowOf(id)
    expect(after.spec).toEqual({
      ...before.spec,
      failover: [expect.objectContaining({ budget: { usd: 3, tokens: 10 }, timeoutMs: null })],
    })
    expect(rightsOf(after.agent_config)).toEqual(rightsOf(before.agent_config))
  })

  it('can be called otherwise and moved in the queue while it waits, and not after', async () => {
    const { verbs, caller, end } = parts
    const { id } = await add({ name: 'one', tags: ['a'] })
    const before = await rowOf(id)
    expect(await verbs.editTask(id, { name: 'two', priority: 2 }, caller)).toMatchObject({
      name: 'two',
      priority: 2,
      tags: ['a'],
    })
    expect(Number((await rowOf(id)).rank)).toBe(Number(before.rank) - 2 * 3_600_000)
    expect(await verbs.editTask(id, { name: null, tags: [] }, caller)).toMatchObject({ name: null, tags: [] })
    await end(id, 'succeeded')
    await expect(verbs.editTask(id, { priority: 0 }, caller)).rejects.toThrow(
      'is completed; only a task that waits can be changed',
    )
  })
})
