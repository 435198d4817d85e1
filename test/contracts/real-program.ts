import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Event, EventData, EventType } from '../../src/domain/event.ts'
import { processesOf } from '../../src/process/tree.ts'
import { eventsUntil, isResting, until } from '../engine/home.ts'
import { type Lack, type Machine, type Program, patienceMs, startMachine } from '../real-agents/peer.ts'

const typesOf = (events: readonly Event[]) => events.map((event) => event.type)
const dataOf = <T extends EventType>(events: readonly Event[], type: T): EventData<T>[] =>
  events.filter((event) => event.type === type).map((event) => event.data as EventData<T>)
const living = async (events: readonly Event[], fence = 1) => {
  const run = events.find((event) => event.type === 'run.started')?.run ?? ''
  return processesOf({ kind: 'pid_namespace', marker: `${run}.${fence}`, enforced: true })
}
/** What the kernel calls a process; commands of a tool come and go while one looks. */
export function nameOf(pid: number): string | undefined {
  const file = `/proc/${pid}/comm`
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (error) {
    if (existsSync(file)) throw error
    return undefined
  }
}

/** What every real program must show with us; what one lacks is named by its entry, and is then refused, which is shown elsewhere. */
export function realProgramContract(program: Program<string>): void {
  const has = (ability: Lack) => !program.lacks?.includes(ability)
  let machine: Machine
  beforeAll(async () => {
    machine = await startMachine()
  })
  afterAll(() => machine.stop())
  const sessionHome = (session: string) => join(machine.home, 'sessions', session)
  const conversationFiles = (program: Program<string>, session: string) => {
    const folder = join(sessionHome(session), program.files)
    return existsSync(folder)
      ? readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith(program.ending ?? '.jsonl'))
      : []
  }

  describe(`the real ${program.agent}`, () => {
    test('answers, and its session goes on in the next task', async () => {
      const agentConfig = machine.agent(program, 'echo-history')
      const first = await machine.run({ agentConfig })
      expect(first.task).toMatchObject({ state: 'completed', result: { outcome: 'succeeded', text: '1 prompts: first message' } })
      if (has('steadyUsage')) expect(first.task.result?.usage).toMatchObject({ turns: 1, outputTokens: 15 })
      const second = await machine.run({
        agentConfig,
        session: first.task.session,
        workspace: first.task.workspace,
        prompt: 'second',
      })
      expect(second.task.result?.text).toBe('2 prompts: first message | second')
      // Both programs report what the whole conversation used; a run counts its own part.
      if (has('steadyUsage')) expect(second.task.result?.usage).toEqual(first.task.result?.usage)
    })

    test('uses a tool, whose call and return are told', async () => {
      const workspace = await machine.workspace()
      const { task, events } = await machine.run({ agentConfig: machine.agent(program, 'tool'), workspace })
      expect(task.result?.text).toContain('scripted-tool')
      expect(readFileSync(join(workspace, 'tool-out.txt'), 'utf8').trim()).toBe('scripted-tool')
      const [call] = dataOf(events, 'agent.tool_called')
      const [returned] = dataOf(events, 'agent.tool_returned')
      expect(returned).toMatchObject({ callId: call?.callId, isError: false, output: expect.stringContaining('scripted-tool') })
      expect(typesOf(events)).not.toContain('agent.unknown')
    })

    test('cannot write outside its walls, says so, and goes on', async () => {
      const { task } = await machine.run({ agentConfig: machine.agent(program, 'denied') })
      expect(task).toMatchObject({ state: 'completed', result: { text: expect.stringMatching(/denied|read-only|permission/i) } })
      expect(existsSync('/etc/pawl-should-not-exist')).toBe(false)
    })

    if (has('mcp'))
      test('asks through our tool, is blocked, and hears the answer in its next run', async () => {
        const agentConfig = machine.agent(program, 'mcp-ask')
        const { task } = await machine.run({ agentConfig })
        expect(task).toMatchObject({ state: 'blocked', questions: [{ state: 'pending' }] })
        await machine.daemon.runtime.answerQuestion(task.questions[0]!.id, 'Blue', { by: 'test' })
        const events = await eventsUntil(machine.daemon, task.id, (event) => event.type === 'task.completed', patienceMs)
        expect(dataOf(events, 'run.started').at(-1)).toMatchObject({ resumed: true })
        expect((await machine.daemon.runtime.getTask(task.id)).result?.text).toBe('Answer heard: Blue')
      })

    if (has('ownQuestion'))
      test('asks in its own way, is blocked, and hears the answer in its next run', async () => {
        const { task } = await machine.run({ agentConfig: machine.agent(program, 'ask') })
        expect(task).toMatchObject({
          state: 'blocked',
          questions: [{ text: expect.stringContaining('Which colour?'), options: ['Red', 'Blue'] }],
        })
        await machine.daemon.runtime.answerQuestion(task.questions[0]!.id, 'Blue', { by: 'test' })
        await eventsUntil(machine.daemon, task.id, (event) => event.type === 'task.completed', patienceMs)
        expect((await machine.daemon.runtime.getTask(task.id)).result?.text).toBe('Answer heard: Blue')
      })

    if (has('mcp'))
      test('sends the user a message beside its answer', async () => {
        const { task, events } = await machine.run({ agentConfig: machine.agent(program, 'mcp-tool') })
        expect(task.state).toBe('completed')
        expect(dataOf(events, 'message.sent')).toHaveLength(1)
      })

    test('goes on after its process was killed in the middle of a tool, and nothing of it is left', async () => {
      const workspace = await machine.workspace()
      const agentConfig = machine.agent(program, 'long-tool', { retry: { attempts: 3, baseDelayMs: 10, maxDelayMs: 20 } })
      const { task: made } = await machine.daemon.runtime.createTask(
        { prompt: 'first message', agentConfig, workspace },
        { by: 'test' },
      )
      await until(() => existsSync(join(workspace, 'long-tool-alive.txt')), patienceMs)
      const started = await eventsUntil(machine.daemon, made.id, (event) => event.type === 'agent.tool_called')
      const [agent] = (await living(started)).filter((pid) => nameOf(pid) === program.process)
      process.kill(agent ?? 0, 'SIGKILL')
      const events = await eventsUntil(machine.daemon, made.id, isResting, patienceMs)
      const task = await machine.daemon.runtime.getTask(made.id)
      expect(task.runs.map((run) => [run.outcome, run.category])).toEqual([
        ['failed', 'crashed'],
        ['succeeded', null],
      ])
      expect(dataOf(events, 'run.started')[1]).toMatchObject({ resumed: true })
      expect(task.result?.text).toContain('first message')
      expect(await living(events)).toEqual([])
    })

    test('goes on after its session files were deleted: they are put back', async () => {
      const agentConfig = machine.agent(program, 'echo-history')
      const { task } = await machine.run({ agentConfig })
      // A program that waits has the conversation in its memory, so it goes first.
      await machine.restart()
      rmSync(sessionHome(task.session), { recursive: true })
      const second = await machine.run({ agentConfig, session: task.session, workspace: task.workspace, prompt: 'second' })
      expect(dataOf(second.events, 'session.restored')).toMatchObject([{ why: 'missing' }])
      expect(second.task.result?.text).toBe('2 prompts: first message | second')
    })

    if (has('rebuild'))
      test('is told a conversation of which neither files nor archive are left', async () => {
        const agentConfig = machine.agent(program, 'tool')
        const { task } = await machine.run({ agentConfig })
        await machine.restart()
        rmSync(sessionHome(task.session), { recursive: true })
        await machine.forgetArchive(task.session)
        const echo = machine.agent(program, 'echo-history')
        const second = await machine.run({
          agentConfig: echo,
          session: task.session,
          workspace: task.workspace,
          prompt: 'second',
        })
        expect(dataOf(second.events, 'session.rebuilt')).toMatchObject([{ form: 'native' }])
        expect(second.task.result?.text).toBe('2 prompts: first message | second')
        const seen = JSON.stringify(machine.models.requests.at(-1)?.body)
        expect(seen).toContain('scripted-tool')
      })

    test('tries again after a passing rate limit', async () => {
      const agentConfig = machine.agent(program, 'rate-limit-recovers', {
        retry: { attempts: 5, baseDelayMs: 10, maxDelayMs: 20 },
      })
      const { task, events } = await machine.run(
        { agentConfig },
        (event) => event.type === 'task.completed' || event.type === 'task.failed',
      )
      expect(task.state).toBe('completed')
      expect(dataOf(events, 'task.parked')[0]).toMatchObject({ kind: 'backoff' })
    })

    test('fails at a rate limit that does not pass, with its own words', async () => {
      const { task } = await machine.run({ agentConfig: machine.agent(program, 'rate-limit') })
      expect(task).toMatchObject({ state: 'failed', reason: { kind: 'rate_limited' } })
    })

    test.each([
      ['auth', 'auth_failed'],
      ['forbidden', 'auth_failed'],
      ['not-found', 'bad_config'],
      ['context-overflow', 'context_overflow'],
      ['server-error', 'network'],
      ['overloaded', 'overloaded'],
    ])('fails with one cause when the model answers %s', async (scenario, category) => {
      const { task } = await machine.run({ agentConfig: machine.agent(program, scenario) })
      expect(task).toMatchObject({ state: 'failed', reason: { kind: category } })
    })

    test('is not tried again when its key was refused', async () => {
      const retry = { attempts: 3, baseDelayMs: 10, maxDelayMs: 20 }
      const { task } = await machine.run({ agentConfig: machine.agent(program, 'auth', { retry }) })
      expect(task.runs).toHaveLength(1)
    })

    test('that says nothing is stopped after the silence that is allowed', async () => {
      const { task, events } = await machine.run({ agentConfig: machine.agent(program, 'stall', { idleTimeoutMs: 1_500 }) })
      expect(task).toMatchObject({ state: 'timed_out', reason: { kind: 'idle_timeout' } })
      expect(await living(events)).toEqual([])
    })

    test('is cancelled in the middle of a tool, keeps what it said, and leaves nothing', async () => {
      const workspace = await machine.workspace()
      const agentConfig = machine.agent(program, 'long-tool')
      const { task: made } = await machine.daemon.runtime.createTask({ prompt: 'x', agentConfig, workspace }, { by: 'test' })
      await until(() => existsSync(join(workspace, 'long-tool-alive.txt')), patienceMs)
      await machine.daemon.runtime.cancelTask(made.id, { now: false, by: 'test' })
      const events = await eventsUntil(machine.daemon, made.id, isResting, patienceMs)
      const task = await machine.daemon.runtime.getTask(made.id)
      expect(task).toMatchObject({ state: 'cancelled', result: { text: expect.stringContaining('This takes long.') } })
      expect(await living(events)).toEqual([])
      // What was cut short can be gone on with.
      expect(conversationFiles(program, task.session)).not.toEqual([])
    })

    if (has('structuredOutput'))
      test('answers in the form that was asked for', async () => {
        const outputSchema = { type: 'object', properties: { answer: { type: 'number' } }, required: ['answer'] }
        const { task } = await machine.run({ agentConfig: machine.agent(program, 'structured'), outputSchema })
        expect(task.state).toBe('completed')
        expect(JSON.parse(task.result?.text ?? '')).toMatchObject({ answer: 42 })
      })
  })
}
