import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Daemon } from '../../src/daemon/daemon.ts'
import type { ResolvedAgent } from '../../src/domain/agent/agent-config.ts'
import { resolveProfile } from '../../src/domain/profile/resolve.ts'
import type { NewTask, TaskView } from '../../src/domain/view/view.ts'
import { commandAgent, eventsUntil, loadTestConfig, makeHome, startEngine, until } from './home.ts'

let home: Awaited<ReturnType<typeof makeHome>>
let daemon: Daemon
beforeAll(async () => {
  home = await makeHome()
  daemon = await startEngine(home.path)
})
afterAll(async () => {
  await daemon.stop()
  await home.remove()
})

const post = (body: unknown, more = '') =>
  `curl -s ${more} -H "authorization: Bearer $PAWL_API_TOKEN" -d '${JSON.stringify(body)}' "$PAWL_API_URL/v1/subtasks"; echo`

/**
 * Plays one program for a whole tree: a prompt that begins with `do` is a command to run, any other is the topmost task, which runs `split` first and says what it
 * heard once its subtasks have ended.
 */
function splitting(split: string, changes: Partial<ResolvedAgent> = {}): ResolvedAgent {
  const script = `prompt=$(cat); case "$prompt" in
    "do "*) eval "\${prompt#do }" ;;
    *"ubtask"*" ended."*) printf '%s' "$prompt" ;;
    *) ${split} ;;
  esac`
  return commandAgent(['/bin/sh', '-c', script], { profile: 'unattended-open', ...changes })
}

const begin = async (agentConfig: ResolvedAgent, task: Partial<NewTask> = {}) =>
  (await daemon.runtime.createTask({ prompt: 'all of it', agentConfig, ...task }, { by: 'test' })).task
const get = (id: string) => daemon.runtime.getTask(id)
const inState = (id: string, state: TaskView['state']) =>
  until(async () => {
    const task = await get(id)
    return task.state === state && task
  })
const subtasksOf = async (id: string) => Promise.all((await get(id)).subtasks.map((subtask) => get(subtask.id)))
const typesOf = async (id: string) => (await daemon.runtime.readEvents(id, { after: 0, limit: 500 })).map((event) => event.type)

describe('a task that its agent splits', () => {
  it('has no commands run as checks that its agent would have to ask for', async () => {
    const rights = resolveProfile('asking', { asking: { extends: 'unattended-open', rules: { ask: ['Bash'] } } })
    const agent = splitting(post({ prompt: 'do true', checks: ['touch /tmp/never'] }), { profile: 'asking', rights })
    const { id } = await begin(agent)
    const done = await inState(id, 'completed')
    expect(done.subtasks).toEqual([])
    expect(done.result?.text).toContain('without anybody being asked')
  })

  it('waits for its subtasks, goes on with what they came to, and is completed', async () => {
    const agent = splitting(
      [
        post({ name: 'one', prompt: 'do echo the first is done' }),
        post({ name: 'two', prompt: 'do echo cannot >&2; exit 3' }),
        'echo made',
      ].join('; '),
    )
    const { id } = await begin(agent)
    const done = await inState(id, 'completed')
    expect(done.runs.map((run) => run.outcome)).toEqual(['succeeded', 'succeeded'])
    expect(done.subtasks.map(({ name, state, parent }) => ({ name, state, parent }))).toEqual([
      { name: 'one', state: 'completed', parent: id },
      { name: 'two', state: 'failed', parent: id },
    ])
    expect(done.result?.text).toContain('The 2 subtasks that you made have ended.')
    expect(done.result?.text).toMatch(/\[Subtask t_\w+ "one": completed\]\n```text\nthe first is done\n```/)
    expect(done.result?.text).toMatch(/\[Subtask t_\w+ "two": failed\]\n```text\n/)
    const types = (await typesOf(id)).filter((type) => /^(task|subtask)\./.test(type))
    expect(types).toEqual([
      'task.queued',
      'subtask.created',
      'subtask.created',
      'task.blocked',
      'subtask.ended',
      'subtask.ended',
      'task.requeued',
      'task.completed',
    ])
  })

  it('is split from inside of its walls as well', async () => {
    const { id } = await begin(splitting(post({ name: 'one', prompt: 'do echo well' }), { profile: 'guarded' }))
    const done = await inState(id, 'completed')
    expect(done.subtasks).toMatchObject([{ name: 'one', state: 'completed' }])
    expect(done.runs[0]).toMatchObject({ enforced: true })
  })

  it('gives them its rights, its user, its place and what it is held to, and none of its reviews', async () => {
    const agent = splitting(post({ prompt: 'do echo x', tags: ['part'], checks: ['true'] }), { timeoutMs: 40_000 })
    const parent = await begin(agent, { review: true, priority: 1, questions: { afterDeadline: { kind: 'fail' } } })
    await inState(parent.id, 'review')
    const [child] = await subtasksOf(parent.id)
    expect(child).toMatchObject({
      state: 'completed',
      parent: parent.id,
      agent: parent.agent,
      workspace: parent.workspace,
      priority: 1,
      tags: ['part'],
      settings: {
        profile: 'unattended-open',
        timeoutMs: 40_000,
        questions: { afterDeadline: { kind: 'fail' } },
        skipPlanning: true,
        checks: { commands: [{ run: 'true' }] },
      },
    })
    expect(child?.settings.review).toBeUndefined()
    expect(child?.session).not.toBe(parent.session)
  })
})

describe('what an agent may ask for', () => {
  const answersOf = async (script: string, changes: Partial<ResolvedAgent> = {}, task: Partial<NewTask> = {}) => {
    const { id } = await begin(splitting(`${script}; exit 3`, changes), task)
    const { runs, subtasks } = await inState(id, 'failed')
    expect(runs).toHaveLength(1)
    const events = await daemon.runtime.readEvents(id, { after: 0, limit: 500 })
    const said = events.flatMap((event) => (event.type === 'agent.message' ? event.data.text.split('\n') : []))
    return { id, subtasks, answers: said.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line)) }
  }

  it('is as many as its task may have in the whole tree', async () => {
    const part = (name: string) => post({ name, prompt: 'do true' })
    const limits = { most: 2, depth: 2, budgetShare: 0.5, whenDone: 'continue' as const }
    const { answers, subtasks } = await answersOf([part('a'), part('b'), part('c')].join('; '), {}, { subtasks: limits })
    expect(answers.at(-1)).toEqual({
      error:
        'There are 2 subtasks already, as many as there may be; do the rest of the work yourself, or give more of it to one subtask.',
    })
    expect(subtasks).toHaveLength(2)
  })

  it('goes only as deep as its task says', async () => {
    const limits = { most: 9, depth: 1, budgetShare: 0.5, whenDone: 'continue' as const }
    const agent = splitting(post({ name: 'middle', prompt: 'do eval "$DEEPER"' }), {
      env: { pass: [], set: { DEEPER: post({ prompt: 'do true' }) } },
    })
    const { id } = await begin(agent, { subtasks: limits })
    const done = await inState(id, 'completed')
    expect(done.subtasks).toHaveLength(1)
    expect(JSON.parse((await get(done.subtasks[0]!.id)).result?.text ?? '')).toEqual({
      error: 'This task is a subtask itself, 1 deep, and there is nothing deeper; do the work yourself.',
    })
  })

  it('takes its caps from the share of its task, and the sum of them never exceeds it', async () => {
    const part = (name: string, budgetUsd?: number) =>
      post({ name, prompt: 'do true', ...(budgetUsd === undefined ? {} : { budgetUsd }) })
    const script = [part('a', 1.5), part('b'), part('c', 5), part('d', 0.8), part('e')].join('; ')
    const { answers, subtasks } = await answersOf(script, { budget: { usd: 5, perRunUsd: 1 } })
    expect(answers[2].error).toBe(
      'A subtask for $5.00 is too much: the subtasks of this task may use $2.50 together, and $0.80 is left. Ask for less, or do this part yourself.',
    )
    expect(answers[4].error).toBe(
      'The subtasks of this task may use $2.50 together, and nothing is left of it; do the rest of the work yourself.',
    )
    const budgets = await Promise.all(subtasks.map(async ({ id }) => (await get(id)).settings.budget))
    expect(budgets).toEqual([
      { usd: 1.5, perRunUsd: 1 },
      { usd: 0.2, perRunUsd: 0.2 },
      { usd: 0.8, perRunUsd: 0.8 },
    ])
  })

  it('is no wider profile, no other workspace, no other parent and no agent that its task does not name', async () => {
    const script = [
      post({ prompt: 'do true', profile: 'unattended-open' }),
      post({ prompt: 'do true', workspace: '/' }),
      post({ prompt: 'do true', agent: 'demo' }),
      post({ prompt: 'do true', dependsOn: ['t_0123456789abcdefgh'] }),
      post({ prompt: ' ' }),
      `curl -s -d '{"parent_task_id":"t_0123456789abcdefgh","claude":{"instructions":"do true"}}' "$CLAUDOMATOR_API_URL/api/tasks"; echo`,
    ].join('; ')
    const { answers, subtasks } = await answersOf(script)
    expect(answers.map(({ error }) => error)).toEqual([
      'subtask: Unrecognized key: "profile"',
      'subtask: Unrecognized key: "workspace"',
      'Subtasks of this task can be given to: helper; not to "demo". Leave the agent out for your own.',
      '"t_0123456789abcdefgh" is no subtask of yours; dependsOn takes the ids of subtasks that you have made.',
      'prompt: it is empty',
      'A run can make subtasks of its own task only; leave the parent out, or name "current".',
    ])
    expect(subtasks).toEqual([])
  })

  it('is given to another agent only with the rights of its own', async () => {
    const agent = splitting(post({ prompt: 'hello', agent: 'demo' }), { profile: 'guarded' })
    const limits = { most: 9, depth: 1, budgetShare: 0.5, whenDone: 'continue' as const, agents: ['demo'] }
    const { id } = await begin(agent, { subtasks: limits, profile: 'strict' })
    const made = await until(async () => (await get(id)).subtasks[0])
    expect(await get(made.id)).toMatchObject({ agent: 'demo', settings: { profile: 'strict' } })
    await daemon.runtime.cancelTask(id, { now: true, by: 'test' })
  })

  it('is made once, however often it is asked for in one run, and by a key also later', async () => {
    const same = post({ name: 'same', prompt: 'do true' })
    const keyed = post({ name: 'keyed', prompt: 'do true' }, '-H "Idempotency-Key: k1"')
    const other = post({ name: 'other', prompt: 'do true' }, '-H "Idempotency-Key: k1"')
    const { answers, subtasks } = await answersOf([same, same, keyed, keyed, other].join('; '))
    expect(answers[1].id).toBe(answers[0].id)
    expect(answers[3].id).toBe(answers[2].id)
    expect(answers[4].error).toMatch(/^This Idempotency-Key was used for another subtask/)
    expect(subtasks.map(({ name }) => name)).toEqual(['same', 'keyed'])
  })

  it('may be written as Claudomator writes it, with its variables, and is read back', async () => {
    const body = JSON.stringify({
      name: 'old',
      parent_task_id: 'PARENT',
      claude: { instructions: 'do echo hi', skip_planning: true, max_budget_usd: 0 },
    })
    const script = [
      `body=$(printf '%s' '${body}' | sed "s/PARENT/$CLAUDOMATOR_TASK_ID/")`,
      'curl -s -d "$body" "$CLAUDOMATOR_API_URL/api/tasks"; echo',
      'curl -s -H "authorization: Bearer $PAWL_API_TOKEN" "$PAWL_API_URL/v1/subtasks"; echo',
      'curl -s -H "authorization: Bearer $PAWL_API_TOKEN" "$PAWL_API_URL/v1/task"; echo',
      'curl -s "$PAWL_API_URL/v1/task"; echo',
    ].join('; ')
    const { id, answers } = await answersOf(script)
    expect(answers[0]).toMatchObject({ name: 'old', state: 'queued', text: null })
    expect(answers[1]).toEqual({ items: [answers[0]] })
    expect(answers[2]).toMatchObject({ id, prompt: 'all of it', subtasks: [answers[0]] })
    expect(answers[3]).toEqual({ error: 'Send the token of PAWL_DOOR_TOKEN as "Authorization: Bearer".' })
  })
})

describe('subtasks of one task', () => {
  it('begin in the order that they depend on each other, and one whose predecessor fails, fails with it', async () => {
    const after = (name: string, prompt: string) =>
      `first=$(printf '%s' "$made" | sed 's/.*"id":"\\([^"]*\\)".*/\\1/'); curl -s -H "authorization: Bearer $PAWL_API_TOKEN" -d "{\\"name\\":\\"${name}\\",\\"prompt\\":\\"${prompt}\\",\\"dependsOn\\":[\\"$first\\"]}" "$PAWL_API_URL/v1/subtasks"`
    const agent = splitting(`made=$(${post({ name: 'first', prompt: 'do exit 3' })}); ${after('second', 'do true')}`)
    const { id } = await begin(agent)
    const done = await inState(id, 'completed')
    expect(done.subtasks.map(({ name, state }) => [name, state])).toEqual([
      ['first', 'failed'],
      ['second', 'failed'],
    ])
    expect(await get(done.subtasks[1]!.id)).toMatchObject({ reason: { kind: 'dependency_failed' }, runs: [] })
    expect(done.runs).toHaveLength(2)
  })

  it('are cancelled with their task, those that wait and those that run', async () => {
    const agent = splitting(
      [post({ name: 'runs', prompt: 'do while :; do sleep 0.1; done' }), post({ name: 'waits', prompt: 'do true' })].join('; '),
    )
    const { id } = await begin(agent)
    await inState(id, 'blocked')
    const [running, waiting] = (await get(id)).subtasks
    await inState(running!.id, 'running')
    await until(async () => (await get(running!.id)).runs[0]?.walls)
    const cancelled = await daemon.runtime.cancelTask(id, { now: false, by: 'test' })
    expect(cancelled.state).toBe('cancelled')
    expect((await get(waiting!.id)).state).toBe('cancelled')
    await inState(running!.id, 'cancelled')
    // What became of them does not bring it back.
    expect((await get(id)).state).toBe('cancelled')
    expect((await get(id)).runs).toHaveLength(1)
  })

  it('are not made again when their task is tried again, which hears what there is', async () => {
    const agent = splitting(
      `case "$prompt" in *"made already"*) printf '%s' "$prompt" ;; *) ${post({ name: 'one', prompt: 'do echo well' })}; exit 3 ;; esac`,
    )
    const { id } = await begin(agent)
    await inState(id, 'failed')
    await until(async () => (await get(id)).subtasks[0]?.state === 'completed')
    await daemon.runtime.retryTask(id, { fresh: true, by: 'test' })
    const again = await inState(id, 'completed')
    expect(again.subtasks).toHaveLength(1)
  })
})

describe('what comes together', () => {
  it('children that end before their parent are told to it once it has ended its own run', async () => {
    const agent = splitting(
      `${post({ name: 'early', prompt: 'do true' })}; while [ ! -e finish ]; do sleep 0.02; done; echo waited`,
    )
    const { id, workspace } = await begin(agent)
    const made = await until(async () => (await get(id)).subtasks[0])
    await daemon.runtime.cancelTask(made.id, { now: true, by: 'test' })
    await writeFile(join(workspace, 'finish'), '')
    const done = await inState(id, 'completed')
    expect(done.runs.map((run) => run.outcome)).toEqual(['succeeded', 'succeeded'])
    expect(done.result?.text).toMatch(/The subtask that you made has ended\.\n\n\[Subtask \w+ "early": cancelled\]/)
    expect((await typesOf(id)).filter((type) => type === 'task.blocked')).toEqual([])
  })

  it('a task without subtasks is never said to have finished them', async () => {
    const { id } = await begin(splitting('exit 3'))
    await inState(id, 'failed')
    expect((await typesOf(id)).filter((type) => /review|completed|subtask/.test(type))).toEqual([])
  })

  it('a task that is to be looked at after its subtasks is, and hears of them with the comment', async () => {
    const agent = splitting(post({ name: 'one', prompt: 'do echo well' }))
    const limits = { most: 9, depth: 1, budgetShare: 0.5, whenDone: 'review' as const }
    const { id } = await begin(agent, { subtasks: limits, skipPlanning: true })
    await inState(id, 'review')
    expect((await get(id)).runs).toHaveLength(1)
    await daemon.runtime.rejectTask(id, { by: 'test', comment: 'Not ``` like that.' })
    const again = await until(async () => {
      const task = await get(id)
      return task.state === 'review' && task.runs.length === 2 && task
    })
    expect(again.result?.text).toContain('"one": completed]\n```text\nwell\n```')
    expect(again.result?.text).toContain('[The comment]\n````text\nNot ``` like that.\n````')
    expect((await daemon.runtime.acceptTask(id, { by: 'test' })).state).toBe('completed')
  })
})

it('a task that is to be looked at after its subtasks has its checks run before', async () => {
  const agent = splitting(post({ name: 'one', prompt: 'do touch made' }))
  const limits = { most: 9, depth: 1, budgetShare: 0.5, whenDone: 'review' as const }
  const checked = async (run: string) => {
    const { id } = await begin(agent, { subtasks: limits, skipPlanning: true, checks: { commands: [{ run }], attempts: 0 } })
    return until(async () => {
      const task = await get(id)
      return /^(review|failed)$/.test(task.state) && task
    })
  }
  expect(await checked('test -e made')).toMatchObject({ state: 'review', result: { verified: true }, runs: [{}, {}] })
  expect(await checked('false')).toMatchObject({ state: 'failed', reason: { kind: 'checks_failed' }, runs: [{}, {}] })
})

it('a queue that is full takes no subtasks either, and the agent is told', async () => {
  const other = await makeHome()
  const config = await loadTestConfig(other.path)
  const full = await startEngine(other.path, { config: { ...config, limits: { ...config.limits, maxQueued: 1 } } })
  try {
    const split = [post({ prompt: 'do echo one' }), post({ prompt: 'do echo two' })].join('; ')
    const agentConfig = splitting(split)
    const { task } = await full.runtime.createTask({ prompt: 'all of it', agentConfig, skipPlanning: true }, { by: 'test' })
    const events = await eventsUntil(full, task.id, (event) => event.type === 'task.completed')
    const said = events.flatMap((event) => (event.type === 'agent.message' ? [event.data.text] : [])).join('\n')
    expect(said).toContain('as many as limits.maxQueued allows')
    expect((await full.runtime.getTask(task.id)).subtasks).toHaveLength(1)
  } finally {
    await full.stop()
    await other.remove()
  }
})

describe('planning', () => {
  const heard = async (task: Partial<NewTask>) => {
    const agentConfig = commandAgent(['cat'], { profile: 'unattended-open' })
    const { id } = await begin(agentConfig, task)
    const done = await inState(id, 'completed')
    // What is put around it belongs to the run.
    expect(done.prompt).toBe('all of it')
    return done.result?.text ?? ''
  }
  const limits = { most: 5, depth: 1, budgetShare: 0.5, whenDone: 'continue' as const }

  it('is asked for before the task where the task wants it or names limits for subtasks, and never of a small task', async () => {
    expect(await heard({})).toBe('all of it')
    expect(await heard({ skipPlanning: false })).toMatch(
      /^Before you begin, estimate .*3 to 7 subtasks.*\n\nThe task:\n\nall of it$/s,
    )
    expect(await heard({ subtasks: limits })).toContain('3 to 5 subtasks')
    expect(await heard({ subtasks: limits, skipPlanning: true })).toBe('all of it')
  })

  it('an agent finds the address, its task and its question file under our names and those of Claudomator', async () => {
    const script =
      'printf "%s\\n" "$PAWL_TASK_ID" "$CLAUDOMATOR_TASK_ID" "$PAWL_API_URL" "$PAWL_DOOR_URL"; echo "$CLAUDOMATOR_API_URL" | sed "s,/t/.*,,"; echo "$PAWL_QUESTION_FILE"; echo "$CLAUDOMATOR_QUESTION_FILE"; test -n "$PAWL_API_TOKEN"'
    const { id } = await begin(commandAgent(['/bin/sh', '-c', script], { profile: 'unattended-open' }))
    const [own, theirs, url, door, old, ...files] = (await inState(id, 'completed')).result!.text.split('\n')
    expect([own, theirs]).toEqual([id, id])
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
    expect([door, old]).toEqual([url, url])
    expect(files[0]).toMatch(/^\//)
    expect(files[1]).toBe(files[0])
  })
})

it('checks of a task with subtasks are run when it has heard of them, and not before', async () => {
  const agent = splitting(post({ name: 'one', prompt: 'do touch there' }))
  const { id } = await begin(agent, { checks: { commands: [{ run: 'test -e there' }], attempts: 0 } })
  const done = await inState(id, 'completed')
  expect(done).toMatchObject({ result: { verified: true } })
  expect(done.runs).toHaveLength(2)
})
