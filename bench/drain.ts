import { request } from 'node:http'
import { startDaemon } from './daemon.ts'
import { type Benchmark, inParallel, ms, perSecond, quantile, rate, timed } from './figure.ts'
import { inPlace } from './place.ts'
import { createWalledSpawn } from './walled.ts'

const tasks = 400
const width = 200
const spawns = 60

export const benchmark: Benchmark = {
  about: `${tasks} tasks drained by ${width} walled agents at once: none lost, none run twice, and the API answers meanwhile`,
  measure: ({ profileDir, say }) =>
    inPlace(async (place) => {
      const settings = { agents: { echo: { command: ['/bin/echo', 'done'] } }, limits: { running: width } }
      const daemon = await startDaemon(place, { settings, profileDir })
      const answers: number[] = []
      const asking = setInterval(
        () =>
          void timed(() => ask(daemon)).then(
            (spent) => answers.push(spent),
            (error) => say(String(error)),
          ),
        100,
      )
      const spent = await timed(async () => {
        await inParallel(tasks, 16, () => daemon.createTask({ agent: 'echo' }))
        await daemon.completed('echo', tasks)
      })
      clearInterval(asking)
      const walled = await createWalledSpawn(place)
      const peer = perSecond(
        spawns,
        await timed(() => inParallel(spawns, Math.min(width, spawns), () => walled({ file: '/bin/echo', args: ['done'] }))),
      )

      const pool = await daemon.pool(1)
      const { rows } = await pool.query<{ lost: number; twice: number; gaps: number }>(`select
        (select count(*)::int from pawl.tasks t where state <> 'completed' or not exists (select 1 from pawl.events e where e.task_id = t.id and type = 'task.completed')) as lost,
        (select count(*)::int from pawl.tasks t where (select count(*) from pawl.runs r where r.task_id = t.id) <> 1) as twice,
        (select count(*)::int from (select task_id from pawl.events group by task_id having max(seq) <> count(*)) as holes) as gaps`)
      const { lost, twice, gaps } = rows[0]!
      const ours = perSecond(tasks, spent)
      say(`${tasks} tasks in ${(spent / 1000).toFixed(1)} s`)
      return [
        {
          name: `drained, ${width} at once`,
          ours: rate(ours),
          peer: `${rate(peer)} spawns, ${spawns} at once`,
          ratio: ours / peer,
          target: '',
        },
        {
          name: 'lost / run twice / gaps',
          ours: `${lost} / ${twice} / ${gaps}`,
          peer: '',
          target: '0',
          isMet: lost + twice + gaps === 0,
        },
        {
          name: 'API meanwhile, p99',
          ours: ms(quantile(answers, 0.99)),
          peer: '',
          target: '≤ 200 ms',
          isMet: quantile(answers, 0.99) <= 200,
        },
      ]
    }),
}

function ask(daemon: { url: string; token: string }): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${daemon.token}` }
    const sent = request(`${daemon.url}/api/v1/tasks?limit=10`, { headers, agent: false }, (answer) => {
      answer.resume()
      answer.on('end', resolve)
    })
    sent.on('error', reject)
    sent.end()
  })
}
