import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { silentLog } from '../../src/base/log.ts'
import type { TaskView } from '../../src/domain/view/view.ts'
import { layoutOf } from '../../src/store/embedded/layout.ts'
import { openEmbedded } from '../../src/store/embedded/server.ts'
import { makeHome } from '../engine/ready-database.ts'
import { until } from '../engine/until.ts'
import { pawl, serve } from './pawl.ts'

/** None of them looks like a key, so that only knowing them helps. */
const secrets = {
  SERVICE_API_KEY: 'plain words nobody guesses',
  SIGNING_SECRET: 'first "quoted" line of it\nand the second line of it',
  'home token': 'the-token-of-this-home',
  'database password': 'pass word/of the database',
}

/** Says all it knows on both outputs, its door's token in two pieces, and asks a question with a secret in it. */
const leaky = `
printf %s "$PAWL_DOOR_TOKEN" > token
rest=\${PAWL_DOOR_TOKEN#??????????}
for output in 1 2; do
  echo "key: $SERVICE_API_KEY" >&$output
  echo "$SIGNING_SECRET" >&$output
  echo "remarks: $REMARK, $OTHER_REMARK" >&$output
  printf %s "\${PAWL_DOOR_TOKEN%"$rest"}" >&$output
  sleep 0.2
  echo "$rest" >&$output
done
touch started
while [ ! -e finish ]; do sleep 0.05; done
case $1 in
  ask) node -e '
    const { PAWL_DOOR_URL, PAWL_DOOR_TOKEN, SERVICE_API_KEY } = process.env
    const body = JSON.stringify({ kind: "free", text: "Is this right: " + SERVICE_API_KEY, options: [] })
    const headers = { authorization: "Bearer " + PAWL_DOOR_TOKEN, "content-type": "application/json" }
    fetch(PAWL_DOOR_URL + "/v1/questions", { method: "POST", body, headers }).then((r) => process.exit(r.status === 202 ? 0 : 1))
  ' ;;
  fail) echo "it does not like $SERVICE_API_KEY" >&2; exit 7 ;;
esac
`

describe('an agent that says every secret it was given', () => {
  let home: Awaited<ReturnType<typeof makeHome>>
  let databaseHome: Awaited<ReturnType<typeof makeHome>>
  let database: Awaited<ReturnType<typeof openEmbedded>>
  let daemon: Awaited<ReturnType<typeof serve>>

  beforeAll(async () => {
    home = await makeHome()
    databaseHome = await makeHome()
    database = await openEmbedded({ home: databaseHome.path, log: silentLog })
    const agent = (how: string) => ({
      adapter: 'custom',
      command: ['sh', '-c', leaky, 'agent', how],
      env: [
        'SERVICE_API_KEY',
        'SIGNING_SECRET',
        `REMARK=${secrets['home token']}`,
        `OTHER_REMARK=${secrets['database password']}`,
      ],
    })
    await writeFile(join(home.path, 'config.yaml'), JSON.stringify({ agents: { asking: agent('ask'), failing: agent('fail') } }))
    await writeFile(join(home.path, 'token'), `${secrets['home token']}\n`, { mode: 0o600 })
    const { SERVICE_API_KEY, SIGNING_SECRET } = secrets
    const password = encodeURIComponent(secrets['database password'])
    const socket = encodeURIComponent(layoutOf(databaseHome.path).socketDir)
    const PAWL_DATABASE_URL = `postgres://pawl:${password}@localhost/pawl?host=${socket}`
    daemon = await serve(home.path, { env: { SERVICE_API_KEY, SIGNING_SECRET, PAWL_DATABASE_URL, PAWL_LOG_LEVEL: 'debug' } })
  })
  afterAll(async () => {
    await pawl(home.path, ['stop'])
    await daemon.ended
    await database.release()
    await home.remove()
    await databaseHome.remove()
  })

  const ask = async (path: string, body?: unknown) => {
    const headers = { authorization: `Bearer ${daemon.token}`, accept: 'application/json', 'content-type': 'application/json' }
    const answer = await fetch(
      `${daemon.url}/api/v1${path}`,
      body ? { method: 'POST', headers, body: JSON.stringify(body) } : { headers },
    )
    return answer.text()
  }

  it.each(['asking', 'failing'])(
    'leaves none of them in events, answers, logs, raw output or argument lists: %s',
    async (agent) => {
      const { id, workspace } = JSON.parse(await ask('/tasks', { prompt: 'say it', agent })) as TaskView
      await until(() => existsSync(join(workspace, 'started')))
      const argumentLists = argumentListsOfAll()
      const doorToken = await readFile(join(workspace, 'token'), 'utf8')
      await writeFile(join(workspace, 'finish'), '')
      await until(async () => /"state":"(blocked|failed)"/.test(await ask(`/tasks/${id}`)))

      const task = JSON.parse(await ask(`/tasks/${id}`)) as TaskView
      const records = join(home.path, 'runs', task.runs[0]!.id)
      const raw = readdirSync(records).map((name) => readFileSync(join(records, name), 'utf8'))
      const places = {
        events: await ask(`/tasks/${id}/events`),
        task: await ask(`/tasks/${id}`),
        'pawl logs': await printed('logs', id),
        'pawl logs --raw': await printed('logs', id, '--raw'),
        'pawl task show': await printed('task', 'show', id),
        'raw output': raw.join('\n'),
        'the daemon': daemon.stderr() + daemon.stdout(),
      }

      const named = { ...secrets, PAWL_DOOR_TOKEN: doorToken }
      for (const [place, text] of Object.entries({ ...places, 'argument lists': argumentLists }))
        for (const [name, secret] of Object.entries(named))
          for (const part of secret.split('\n')) expect(text.includes(part) ? `${name} in ${place}` : '').toBe('')
      // Not because nothing was said.
      for (const name of Object.keys(named)) {
        expect(places.events).toContain(`[redacted:${name}]`)
        for (const output of raw) expect(output).toContain(`[redacted:${name}]`)
      }
      if (agent === 'asking') expect(task.questions[0]!.text).toBe('Is this right: [redacted:SERVICE_API_KEY]')
      else expect(places['the daemon']).toContain('it does not like [redacted:SERVICE_API_KEY]')
    },
  )

  it('and a person who writes one into a prompt do not bring it into the log of the daemon', async () => {
    const prompt = `try ${secrets['home token']} and ${secrets['database password']}`
    const { id, workspace } = JSON.parse(await ask('/tasks', { prompt, agent: 'failing' })) as TaskView
    await until(() => existsSync(join(workspace, 'started')))
    await writeFile(join(workspace, 'finish'), '')
    await until(async () => /"state":"failed"/.test(await ask(`/tasks/${id}`)))
    expect(daemon.stderr()).toContain('try [redacted:home token] and [redacted:database password]')
    expect(daemon.stderr()).not.toContain(secrets['home token'])
    // The agent must hear what it was told.
    expect((JSON.parse(await ask(`/tasks/${id}`)) as TaskView).prompt).toBe(prompt)
  })

  const printed = async (...args: string[]) => {
    const { stdout, stderr } = await pawl(home.path, args)
    return stdout + stderr
  }
})

/** Of every process of the machine that we may look at; our own test runner knows the secrets and has no arguments. */
function argumentListsOfAll(): string {
  const read = (pid: string) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
    } catch {
      // It has ended meanwhile.
      return ''
    }
  }
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(read)
    .join('\n')
}
