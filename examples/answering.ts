// An engine of one's own: tasks with files, a question that is answered, and what they left. Run it with: node answering.ts
import { type AgentRun, createPawl, type Event, PawlError, type TaskView } from 'pawl'

await using pawl = await createPawl({ cwd: process.cwd() })

const asking = pawl.run('report', {
  agent: 'demo',
  name: 'what is here',
  attach: [{ name: 'note.txt', content: Buffer.from('look') }],
})
const done = await untilDone(asking)
console.log(done.name, done.state)
console.log(done.settings.attachments?.map(({ name, size }) => `${name} ${size}`).join())

const { items } = await pawl.listTasks({ states: ['completed'], agent: 'demo' })
console.log(items.some(({ id }) => id === done.id))

try {
  await pawl.run('report', { agent: 'nobody' })
} catch (error) {
  console.log(error instanceof PawlError && error.code)
}

/** Answers every question with its first option. */
async function untilDone(run: AgentRun): Promise<TaskView> {
  let question: Extract<Event, { type: 'question.asked' }> | undefined
  for await (const event of run) if (event.type === 'question.asked') question = event
  const task = await run
  return task.state === 'blocked' && question ? untilDone(run.answer(question.data.options[0] ?? 'go on')) : task
}
