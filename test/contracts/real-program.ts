import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ResolvedAgent } from '../../src/domain/agent/agent-config.ts'
import type { Event, EventData, EventType } from '../../src/domain/event/event.ts'
import type { NewTask, TaskView } from '../../src/domain/view/view.ts'
import { descendantsOf } from '../../src/sandbox/process/identity.ts'
import { eventsUntil, isResting, until } from '../engine/home.ts'
import { type Lack, type Machine, type Program, patienceMs, type Ran, startMachine } from '../real-agents/peer.ts'

const frozenMs = 10_000

/** Set by `npm run show:real-programs`: the whole list, also with the programs that wrap another. */
const playsAll = process.env.REAL_PROGRAMS === 'all'

const typesOf = (events: readonly Event[]) => events.map((event) => event.type)
const dataOf = <T extends EventType>(events: readonly Event[], type: T): EventData<T>[] =>
  events.filter((event) => event.type === type).map((event) => event.data as EventData<T>)
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

interface Talk {
  readonly first: Ran
  readonly session: string
  readonly workspace: string
  /** The prompts so far, as the model has them. */
  readonly heard: string[]
  /** The next task of the conversation; `play NAME` has the model play that scenario. */
  task(prompt: string, changes?: Partial<ResolvedAgent>): Partial<NewTask> & { agentConfig: ResolvedAgent; prompt: string }
  goOn(prompt: string): Promise<Ran>
  /** The one turn in which it uses its tools. */
  worked(): Promise<Ran>
}

/** What every real program must show with us; what one lacks is named by its entry, and is then refused, which is shown elsewhere. */
export function realProgramContract(program: Program<string>): void {
  const has = (ability: Lack) => !program.lacks?.includes(ability)
  const isWhole = !program.isWrapper || playsAll
  const isQuick = !program.startsSlowly || playsAll
  let machine: Machine
  beforeAll(async () => {
    machine = await startMachine()
  })
  afterAll(() => machine.stop())
  /** One conversation for all that a turn can show: a program that stays for the next turn is then started once. Every test can begin it. */
  let begun: Promise<Talk> | undefined
  const conversation = () => {
    begun ??= begin()
    return begun
  }
  const begin = async (): Promise<Talk> => {
    const agentConfig = machine.agent(program, 'as-asked')
    const first = await machine.run({ agentConfig })
    const { session, workspace } = first.task
    const heard = ['first message']
    const task = (prompt: string, changes: Partial<ResolvedAgent> = {}) => {
      heard.push(prompt)
      return { agentConfig: { ...agentConfig, ...changes }, session, workspace, prompt }
    }
    const goOn = (prompt: string) => machine.run(task(prompt))
    let work: Promise<Ran> | undefined
    const worked = () => {
      work ??= goOn('play work')
      return work
    }
    return { first, session, workspace, heard, task, goOn, worked }
  }
  const living = (events: readonly Event[]) =>
    machine.processesOf(events.find((event) => event.type === 'run.started')?.run ?? '')
  const sessionHome = (session: string) => join(machine.home, 'sessions', session)
  const conversationFiles = (program: Program<string>, session: string) => {
    const folder = join(sessionHome(session), program.files)
    return existsSync(folder)
      ? readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith(program.ending ?? '.jsonl'))
      : []
  }

  const waitingPid = async (session: string) =>
    (await machine.daemon.runtime.health()).warm.find((one) => one.session === session)?.pid
  /** The time that the processor has given to each process below one. */
  const timesOf = (pid: number) =>
    descendantsOf(pid).map((one) => {
      const fields = readFileSync(`/proc/${one}/stat`, 'latin1')
        .replace(/^.*\) /, '')
        .split(' ')
      return [one, fields[11], fields[12]]
    })
  /** A conversation that waits while the others are had. */
  let waited: ReturnType<typeof freeze> | undefined
  const frozen = () => {
    waited ??= freeze()
    return waited
  }
  async function freeze() {
    const agentConfig = machine.agent(program, 'as-asked')
    const { task } = await machine.run({ agentConfig })
    return { agentConfig, task, pid: await waitingPid(task.session), timesOf, atMs: performance.now() }
  }

  /** A program that waits has the conversation in its memory. */
  async function endWaiting(session: string) {
    const waiting = async () => (await machine.daemon.runtime.health()).warm.find((one) => one.session === session)
    const one = await waiting()
    if (!one) return
    const below = [one.pid, ...descendantsOf(one.pid)]
    process.kill(one.pid, 'SIGKILL')
    await until(async () => below.every((pid) => nameOf(pid) === undefined) && (await waiting()) === undefined)
  }

  async function hearsAnswer(task: TaskView) {
    expect(task).toMatchObject({ state: 'blocked', questions: [{ state: 'pending' }] })
    await machine.daemon.runtime.answerQuestion(task.questions[0]!.id, 'Blue', { by: 'test' })
    const events = await eventsUntil(machine.daemon, task.id, (event) => event.type === 'task.completed', patienceMs)
    expect(dataOf(events, 'run.started').at(-1)).toMatchObject({ resumed: true })
    expect((await machine.daemon.runtime.getTask(task.id)).result?.text).toBe('Answer heard: Blue')
  }

  describe(`the real ${program.agent}`, () => {
    test('answers, and its session goes on in the next task', async () => {
      const { first, goOn } = await conversation()
      expect(first.task).toMatchObject({ state: 'completed', result: { outcome: 'succeeded', text: '1 prompts: first message' } })
      if (has('steadyUsage')) expect(first.task.result?.usage).toMatchObject({ turns: 1, outputTokens: 15 })
      const second = await goOn('second')
      expect(second.task.result?.text).toBe('2 prompts: first message | second')
      // Both programs report what the whole conversation used; a run counts its own part.
      if (has('steadyUsage')) expect(second.task.result?.usage).toEqual(first.task.result?.usage)
    })

    test('waits for its next turn, if it is one program alone', async () => {
      const one = async ({ first, session }: Talk) => ({ task: first.task, pid: await waitingPid(session) })
      const { task, pid } = has('waiting') ? await frozen() : await one(await conversation())
      expect(pid !== undefined).toBe(has('waiting'))
      expect(task.result?.text).toBe('1 prompts: first message')
    })

    test('uses a tool, whose call and return are told', async () => {
      const { worked, workspace } = await conversation()
      const { task, events } = await worked()
      expect(task.result?.text).toContain('scripted-tool')
      expect(readFileSync(join(workspace, 'tool-out.txt'), 'utf8').trim()).toBe('scripted-tool')
      const [call] = dataOf(events, 'agent.tool_called')
      const [returned] = dataOf(events, 'agent.tool_returned')
      expect(returned).toMatchObject({ callId: call?.callId, isError: false, output: expect.stringContaining('scripted-tool') })
      expect(typesOf(events)).not.toContain('agent.unknown')
    })

    test('cannot write outside its walls, says so, and goes on', async () => {
      const { task, events } = await (await conversation()).worked()
      const said = expect.stringMatching(/denied|read-only|permission/i)
      expect(dataOf(events, 'agent.tool_returned')[1]).toMatchObject({ output: said })
      expect(task).toMatchObject({ state: 'completed', result: { text: said } })
      expect(existsSync('/etc/pawl-should-not-exist')).toBe(false)
    })

    test('sends the user a message beside its answer', async () => {
      const { task, events } = await (await conversation()).worked()
      expect(task.state).toBe('completed')
      expect(dataOf(events, 'message.sent')).toHaveLength(1)
    })

    if (isWhole)
      test('goes on after its session files were deleted: they are put back', async () => {
        const { goOn, session, heard } = await conversation()
        await endWaiting(session)
        rmSync(sessionHome(session), { recursive: true })
        const { task, events } = await goOn('play echo-history')
        expect(dataOf(events, 'session.restored')).toMatchObject([{ why: 'missing' }])
        expect(task.result?.text).toBe(`${heard.length} prompts: ${heard.join(' | ')}`)
      })

    if (has('rebuild'))
      test('is told a conversation of which neither files nor archive are left', async () => {
        const { worked, goOn, session, heard } = await conversation()
        await worked()
        await endWaiting(session)
        rmSync(sessionHome(session), { recursive: true })
        await machine.forgetArchive(session)
        const { task, events } = await goOn('play echo-history')
        expect(dataOf(events, 'session.rebuilt')).toMatchObject([{ form: 'native' }])
        expect(task.result?.text).toBe(`${heard.length} prompts: ${heard.join(' | ')}`)
        const seen = JSON.stringify(machine.models.requests.at(-1)?.body)
        expect(seen).toContain('scripted-tool')
      })

    test('asks through our tool, is blocked, and hears the answer in its next run', async () => {
      const { goOn } = await conversation()
      await hearsAnswer((await goOn('play mcp-ask')).task)
    })

    if (has('waiting'))
      test('goes on after it was frozen for ten seconds', async () => {
        const { agentConfig, task, pid, timesOf, atMs } = await frozen()
        const before = pid === undefined ? [] : timesOf(pid)
        await pause(Math.max(0, atMs + frozenMs - performance.now()))
        expect(pid === undefined ? [] : timesOf(pid)).toEqual(before)
        const { session, workspace } = task
        const { task: next } = await machine.run({ agentConfig, session, workspace, prompt: 'second' })
        expect(next).toMatchObject({ state: 'completed', result: { text: '2 prompts: first message | second' } })
        expect(await waitingPid(session)).toBe(pid)
        const { task: third } = await machine.run({ agentConfig, session, workspace, prompt: 'play mcp-ask' })
        expect(third).toMatchObject({ state: 'blocked', questions: [{ state: 'pending' }] })
      })

    if (has('ownQuestion'))
      test('asks in its own way, is blocked, and hears the answer in its next run', async () => {
        const { goOn } = await conversation()
        const { task } = await goOn('play ask')
        expect(task.questions).toMatchObject([{ text: expect.stringContaining('Which colour?'), options: ['Red', 'Blue'] }])
        await hearsAnswer(task)
      })

    // All of this the engine decides more than the program does.
    if (isWhole) {
      test('goes on after its process was killed in the middle of a tool, and nothing of it is left', async () => {
        const { task: next, workspace } = await conversation()
        const retry = { attempts: 3, baseDelayMs: 10, maxDelayMs: 20 }
        const { task: made } = await machine.daemon.runtime.createTask(next('play long-tool', { retry }), { by: 'test' })
        await until(() => existsSync(join(workspace, 'long-tool-alive.txt')), patienceMs)
        const started = await eventsUntil(machine.daemon, made.id, (event) => event.type === 'agent.tool_called')
        const [agent] = (await living(started)).filter((pid) => nameOf(pid) === program.process)
        if (agent === undefined) throw new Error(`no process called ${program.process} lives`)
        process.kill(agent, 'SIGKILL')
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

      if (isQuick)
        test('that says nothing is stopped after the silence that is allowed, tried again in its conversation, and reported', async () => {
          const { session, workspace } = (await machine.run({ agentConfig: machine.agent(program, 'as-asked') })).task
          const retry = { attempts: 2, baseDelayMs: 10, maxDelayMs: 20 }
          const agentConfig = machine.agent(program, 'stall', { idleTimeoutMs: 1_500, retry })
          const { task, events } = await machine.run({ agentConfig, session, workspace, prompt: 'second' })
          expect(task).toMatchObject({ state: 'timed_out', reason: { kind: 'idle_timeout' } })
          expect(task.reason?.detail).toMatch(/^The agent said nothing for .*Last seen: /)
          expect(task.runs.map(({ category }) => category)).toEqual(['idle_timeout', 'idle_timeout'])
          expect(dataOf(events, 'run.started')[1]).toMatchObject({ resumed: true })
          expect(await living(events)).toEqual([])
        })

      if (isQuick)
        test('that waits for a tool for longer than it may be silent is not ended', async () => {
          const { workspace, task: next } = await conversation()
          const { task } = await machine.run(next('play slow-tool', { idleTimeoutMs: 3_000 }))
          expect(task.runs.map(({ outcome }) => outcome)).toEqual(['succeeded'])
          expect(task.result?.text).toContain('built')
          expect(readFileSync(join(workspace, 'slow-tool.txt'), 'utf8')).toBe('built\n')
        })

      if (isQuick)
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

      // The cause is known from what the gateway saw, so one program of a wire format shows all of them.
      test.each([
        ['context-overflow', 'context_overflow'],
        ['server-error', 'network'],
        ...(program.showsRefusals
          ? [
              ['forbidden', 'auth_failed'],
              ['not-found', 'bad_config'],
              ['overloaded', 'overloaded'],
            ]
          : []),
      ])('fails with one cause when the model answers %s', async (scenario, category) => {
        const { task } = await machine.run({ agentConfig: machine.agent(program, scenario!) })
        expect(task).toMatchObject({ state: 'failed', reason: { kind: category } })
      })

      test('is not tried again when its key was refused', async () => {
        const retry = { attempts: 3, baseDelayMs: 10, maxDelayMs: 20 }
        const { task } = await machine.run({ agentConfig: machine.agent(program, 'auth', { retry }) })
        expect(task).toMatchObject({ state: 'failed', reason: { kind: 'auth_failed' } })
        expect(task.runs).toHaveLength(1)
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
    }
  })
}
