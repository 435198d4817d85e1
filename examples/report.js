// One task in this process: node report.js [prompt]
import { runAgent } from 'pawl'

const run = runAgent(process.argv[2] ?? 'report --no-question', { agent: 'demo' })
for await (const event of run) console.error(event.seq, event.type)

const task = await run
console.log(task.state, task.result?.text ?? '')
process.exitCode = task.state === 'completed' ? 0 : 1
