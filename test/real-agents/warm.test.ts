import { appendFileSync, existsSync, readdirSync } from 'node:fs'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ResolvedAgent } from '../../src/domain/agent/agent-config.ts'
import { resolveProfile } from '../../src/domain/profile/resolve.ts'
import { descendantsOf } from '../../src/sandbox/process/identity.ts'
import { until } from '../engine/until.ts'
import { type Machine, type Program, programs, type Ran, startMachine } from './peer.ts'

let machine: Machine
beforeAll(async () => {
  machine = await startMachine()
})
afterAll(() => machine.stop())

const waiting = async () => (await machine.daemon.runtime.health()).warm
const isAlive = (pid: number) => existsSync(`/proc/${pid}`)

/** A first turn, and the process that waits after it. */
async function begin(program: Program, agentConfig: ResolvedAgent) {
  const workspace = await machine.workspace()
  const first = await machine.run({ agentConfig, workspace })
  const one = (await waiting()).find(({ session }) => session === first.task.session)
  if (!one) throw new Error(`${program.agent} does not wait after ${first.task.result?.text}`)
  return { session: first.task.session, workspace, pid: one.pid }
}
const skill = (description: string) => `---\ndescription: ${description}\n---\nThe words of a skill.\n`
async function put(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, text)
  // What the agent's user may not write makes the run work on a copy, and then nothing is kept waiting.
  await chmod(path, 0o666)
}
const pidOf = async (session: string) => (await waiting()).find((one) => one.session === session)?.pid

describe.each(programs)('a waiting $agent', (program) => {
  /** One conversation for all that becomes of the next turn: what serves one turn is what the next is served by, or not. */
  let talk: Promise<Awaited<ReturnType<typeof begin>> & { agentConfig: ResolvedAgent }> | undefined
  const prompts = ['first message']
  const conversation = () => {
    const agentConfig = machine.agent(program, 'echo-history')
    talk ??= begin(program, agentConfig).then((begun) => ({ ...begun, agentConfig }))
    return talk
  }
  /** The next turn, changed from here on; every answer shows that the conversation goes on. */
  async function goOn(changes: { agentConfig?: ResolvedAgent; workspace?: string } = {}): Promise<Ran> {
    const now = { ...(await conversation()), ...changes }
    talk = Promise.resolve(now)
    prompts.push(`message ${prompts.length + 1}`)
    const { session, workspace, agentConfig } = now
    const ran = await machine.run({ agentConfig, session, workspace, prompt: prompts.at(-1)! })
    expect(ran.task).toMatchObject({ state: 'completed', result: { text: `${prompts.length} prompts: ${prompts.join(' | ')}` } })
    return ran
  }
  async function waitingNow() {
    const now = await conversation()
    const pid = await pidOf(now.session)
    if (pid === undefined) throw new Error(`${program.agent} does not wait`)
    return { ...now, pid }
  }

  test('serves the next turn of its session', async () => {
    const { session, pid } = await waitingNow()
    const { task, events } = await goOn()
    expect(await pidOf(session)).toBe(pid)
    expect(events.find((event) => event.type === 'run.started')?.data).toMatchObject({ resumed: true, enforced: true })
    // What it printed in this turn is kept with this run alone.
    const raw = readdirSync(join(machine.home, 'runs', task.runs[0]!.id))
    expect(raw).toContain('stdout.log')
  })

  test('does not serve another session', async () => {
    const { pid, workspace, agentConfig } = await waitingNow()
    const other = await machine.run({ agentConfig, workspace })
    expect(other.task.result?.text).toBe('1 prompts: first message')
    expect(await pidOf(other.task.session)).not.toBe(pid)
  })

  test('is not used in another workspace', async () => {
    const { pid } = await waitingNow()
    await goOn({ workspace: await machine.workspace() })
    expect(isAlive(pid)).toBe(false)
  })

  test('is not used when somebody else has written the conversation', async () => {
    const { pid, session } = await waitingNow()
    const folder = join(machine.home, 'sessions', session, program.files)
    const [file] = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.jsonl'))
    appendFileSync(join(folder, file!), '\n')
    await goOn()
    expect(isAlive(pid)).toBe(false)
  })

  test('is not used after it died', async () => {
    const { pid, session } = await waitingNow()
    process.kill(pid, 'SIGKILL')
    await until(async () => (await pidOf(session)) === undefined)
    await goOn()
  })

  test('has the skills of its profile, plugins and the instructions of the repository in every turn', async () => {
    const plugin = await machine.workspace()
    await put(join(plugin, '.claude-plugin/plugin.json'), '{ "name": "ours", "version": "1.0.0" }')
    await put(join(plugin, 'skills/plugged/SKILL.md'), skill('Says PLUGGED-SKILL.'))
    await put(join(machine.home, 'skills/greet/SKILL.md'), skill('Says GREET-SKILL.'))
    const workspace = await machine.workspace()
    await put(join(workspace, 'AGENTS.md'), 'Always say AGENTS-WORDS.')
    const mount = {
      name: 'plugin',
      description: '',
      source: plugin,
      path: plugin,
      mode: 'ro',
      persistent: false,
      required: true,
    } as const
    const rights = resolveProfile('mine', { mine: { extends: 'guarded', skills: ['greet'], mounts: [mount] } })
    const plain = machine.agent(program, 'echo-history', { profile: 'mine', rights })
    // Codex has plugins only by its own settings, which a run does not read.
    const isClaude = program.agent === 'claude'
    const agentConfig = isClaude ? { ...plain, options: { ...plain.options, args: [`--plugin-dir=${plugin}`] } } : plain
    const first = await machine.run({ agentConfig, workspace })
    const pid = await pidOf(first.task.session)
    expect(pid).toBeGreaterThan(0)
    await machine.run({ agentConfig, session: first.task.session, workspace, prompt: 'second' })
    expect(await pidOf(first.task.session)).toBe(pid)
    const requests = machine.models.requestsOf(/@([\w-]+)/.exec(agentConfig.baseUrl!)![1]!)
    const wanted = ['GREET-SKILL', ...(isClaude ? ['PLUGGED-SKILL'] : []), 'AGENTS-WORDS']
    const turns = requests.map(({ body }) => JSON.stringify(body)).filter((body) => body.includes('first message'))
    expect(turns.length).toBeGreaterThanOrEqual(2)
    for (const body of turns) expect(wanted.filter((words) => !body.includes(words))).toEqual([])
  })

  test.each<[string, (agent: ResolvedAgent) => Partial<ResolvedAgent>]>([
    ['model', () => ({ model: program.agent === 'claude' ? 'claude-opus-4-5' : 'other-model' })],
    ['system prompt', () => ({ systemPrompt: 'Be brief.' })],
    ['environment', (agent) => ({ env: { ...agent.env, set: { ...agent.env.set, COLOUR: 'blue' } } })],
    ['key', (agent) => ({ env: { pass: [], set: { ...agent.env.set, [program.keyName]: 'another-key-0123456789' } } })],
    [
      'options',
      (agent) => ({ options: { ...agent.options, args: program.agent === 'claude' ? ['--debug-file=/tmp/x'] : ['-c', 'x=1'] } }),
    ],
    ['profile', () => ({ profile: 'trusted-repo' as const })],
  ])('is not used by a run that wants another %s, and the conversation goes on all the same', async (_, change) => {
    const { pid, session, agentConfig } = await waitingNow()
    // The changes before this one stay, so that this one alone is what is other.
    await goOn({ agentConfig: { ...agentConfig, ...change(agentConfig) } })
    expect(await pidOf(session)).not.toBe(pid)
    expect(isAlive(pid)).toBe(false)
  })

  test('is not kept when the conversation is to begin anew', async () => {
    const agentConfig = machine.agent(program, 'echo-history')
    const begun = await begin(program, agentConfig)
    const task = { agentConfig, session: begun.session, workspace: begun.workspace, prompt: 'anew', resetSession: true }
    const { task: again, events } = await machine.run(task)
    expect(again.result?.text).toBe('1 prompts: anew')
    expect(events.map((event) => event.type)).toContain('session.reset')
    expect(isAlive(begun.pid)).toBe(false)
  })

  test('is not kept when the agent left a command running', async () => {
    const workspace = await machine.workspace()
    const command = 'setsid sh -c "while :; do sleep 0.1; done" > /dev/null 2>&1 & echo left'
    const agentConfig = machine.agent(program, 'shell')
    const { task } = await machine.run({ agentConfig, workspace, prompt: `run \`${command}\`` })
    expect(task.state).toBe('completed')
    expect(await pidOf(task.session)).toBeUndefined()
    expect(descendantsOf(process.pid).filter((pid) => !isAlive(pid))).toEqual([])
  })

  test('is not kept after a failure', async () => {
    const { task } = await machine.run({ agentConfig: machine.agent(program, 'auth') })
    expect(await pidOf(task.session)).toBeUndefined()
  })

  test('dies with Pawl', async () => {
    const begun = await begin(program, machine.agent(program, 'echo-history'))
    await machine.restart()
    expect(isAlive(begun.pid)).toBe(false)
    expect(await waiting()).toEqual([])
  })
})
