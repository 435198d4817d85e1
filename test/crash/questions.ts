import { fileURLToPath } from 'node:url'
import { ResolvedAgent } from '../../src/domain/agent/agent-config.ts'
import { builtinProfiles } from '../../src/domain/profile/builtin.ts'
import type { NewTask, TaskView } from '../../src/domain/view/view.ts'
import { type CrashHome, pause } from './home.ts'
import { type Acknowledged, newTask } from './scenario.ts'

/** A question whose time is up is answered once, by whoever lives then, and the agent hears it. */
export async function playDeadline(home: CrashHome, tag: string): Promise<Acknowledged> {
  const answer = `blue for ${tag}`
  const questions = { deadlineMs: 700, afterDeadline: { kind: 'proceed' as const, answer } }
  const made = await begin(home, { ...newTask({ kind: 'ask', tag }), questions }, tag)
  const task = await untilDone(home, made.id)
  for (const { id } of task.questions) made.answers.push({ questionId: id, answer })
  return made
}

/** Another agent is asked by one task, however often it was begun to be asked. It asks something itself, so in the end nobody answers. */
export async function playEscalation(home: CrashHome, tag: string): Promise<Acknowledged> {
  const questions = { deadlineMs: 700, afterDeadline: { kind: 'escalate' as const, agent: 'demo' } }
  const made = await begin(home, { ...newTask({ kind: 'ask', tag }), questions }, tag)
  const { questions: asked } = await untilDone(home, made.id)
  const told = await count(home, `pawl.events where task_id = '${made.id}' and type = 'question.escalated'`)
  if (told !== asked.length) throw new Error(`C8: ${asked.length} questions were passed on ${told} times`)
  for (const { id, escalatedTo } of asked) {
    const tasks = await count(home, `pawl.idempotency_keys where key like '%escalation of ${id}'`)
    if (tasks !== 1 || escalatedTo === null) throw new Error(`C8: ${tasks} tasks were made to answer ${id}`)
    await home.ask((client) => client.cancelTask(escalatedTo))
    await untilDone(home, escalatedTo, 'cancelled')
  }
  return made
}

const fakeClaude = fileURLToPath(new URL('../fake-agent/fake-claude.js', import.meta.url))
const { guarded } = builtinProfiles

/** A permission that counts once allows one call, whatever dies between its being used and the call. */
export async function playGrant(home: CrashHome, tag: string): Promise<Acknowledged> {
  const call = { use: { id: 'c', name: 'Bash', input: { command: `git push ${tag}` } } }
  const again = (left: number): object[] => [...(left > 0 ? [{ next: again(left - 1) }] : []), call, { say: 'went on' }]
  const agentConfig = ResolvedAgent.parse({
    ...{ name: 'crash-grant', adapter: 'claude-code', profile: 'mine', graceMs: 1_000, options: { command: fakeClaude } },
    rights: { ...guarded, name: 'mine', rules: { allow: [], ask: ['Bash(git push:*)'], deny: [] } },
    env: { pass: [], set: { ANTHROPIC_API_KEY: 'key-of-the-crash-tests-0123456789' } },
  })
  const body = { prompt: JSON.stringify(again(6)), agentConfig, tags: [tag], skipPlanning: true }
  const made = await begin(home, body, tag)
  let answered = 0
  const task = await untilDone(home, made.id, 'completed', async ({ state, questions }) => {
    const open = questions.find((question) => question.state === 'pending')
    if (state !== 'blocked' || !open) return
    await home.ask((client) => client.answerQuestion(open.id, 'Allow once'))
    answered++
  })
  const events = (await home.ask((client) => client.readEvents(made.id, { limit: 1_000 }))).items
  const done = events.filter((event) => event.type === 'agent.tool_returned' && !event.data.isError).length
  const used = await home.query(`select used_by_run from pawl.grants where task_id = '${made.id}' and used_at is not null`)
  if (done > used.length || used.length > answered || task.questions.length !== answered)
    throw new Error(
      `C8: ${done} calls were made with ${used.length} of ${answered} permissions, for ${task.questions.length} questions`,
    )
  return made
}

const count = async (home: CrashHome, rows: string) =>
  (await home.query<{ n: number }>(`select count(*)::int as n from ${rows}`))[0]?.n

async function begin(home: CrashHome, body: NewTask, tag: string): Promise<Acknowledged> {
  const key = `${tag}.question`
  const { task } = await home.ask((client) => client.createTask(body, { idempotencyKey: key }))
  return { id: task.id, key, body, kind: 'ask', ends: ['completed'], answers: [], lost: [] }
}

async function untilDone(
  home: CrashHome,
  id: string,
  wanted: TaskView['state'] = 'completed',
  step: (task: TaskView) => Promise<void> = async () => undefined,
): Promise<TaskView> {
  for (let tries = 0; tries < 1_600; tries++) {
    const task = await home.ask((client) => client.getTask(id))
    if (task.state === wanted) return task
    await step(task)
    await pause(25)
  }
  throw new Error(`C9: ${id} did not end within 40 s`)
}
