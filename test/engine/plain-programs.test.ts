import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { resetTime } from '../../src/agents/shared/reset-time.ts'
import { createLog } from '../../src/base/log.ts'
import type { Daemon } from '../../src/daemon/daemon.ts'
import type { ResolvedAgent } from '../../src/domain/agent/agent-config.ts'
import { commandAgent, eventsUntil, isResting, makeHome, startEngine } from './home.ts'

describe('a plain script as the agent', () => {
  let home: Awaited<ReturnType<typeof makeHome>>
  let daemon: Daemon
  const logged: Record<string, unknown>[] = []

  beforeAll(async () => {
    home = await makeHome()
    const log = createLog({ level: 'info', format: 'json', now: Date.now, write: (line) => logged.push(JSON.parse(line)) })
    daemon = await startEngine(home.path, { log })
  })
  afterAll(async () => {
    await daemon.stop()
    await home.remove()
  })

  let agents = 0
  /** What it does at its first start, at its second, and at every later one. Each is an agent of its own, so that no limit of one holds another up. */
  const begin = async (first: string, second = 'echo worked', later = 'echo worked', changes: Partial<ResolvedAgent> = {}) => {
    const script = [
      'cat > prompt; echo x >> starts',
      `case $(wc -l < starts) in 1) ${first} ;; 2) ${second} ;; *) ${later} ;; esac`,
    ]
    const agentConfig = commandAgent(['/bin/sh', '-c', script.join('\n')], {
      name: `plain-${++agents}`,
      retry: { attempts: 3, baseDelayMs: 20, maxDelayMs: 100 },
      ...changes,
    })
    return (await daemon.runtime.createTask({ prompt: 'do it', agentConfig }, { by: 'test' })).task
  }
  const isOver = (event: { type: string }) => /^task\.(completed|failed|blocked)$/.test(event.type)
  const finish = async (...scripts: Parameters<typeof begin>) => {
    const { id } = await begin(...scripts)
    const events = await eventsUntil(daemon, id, isOver, 30_000)
    return { id, events, task: await daemon.runtime.getTask(id) }
  }
  const categoriesOf = ({ runs }: { runs: readonly { category?: string | null | undefined }[] }) =>
    runs.map(({ category }) => category ?? null)
  const lineOf = (id: string) => logged.find((line) => line.message === 'a run ended' && line.task === id)

  it('is parked when it is limited, goes on when the limit is over, and loses no attempt by it', async () => {
    const { events, task } = await finish(
      'echo "HTTP 429 rate limited, try again in 2 seconds" >&2; exit 1',
      'printf "HTTP/1.1 429 Too Many Requests\\nRetry-After: 1\\n" >&2; exit 22',
    )
    expect(task).toMatchObject({ state: 'completed', result: { text: 'worked' } })
    expect(categoriesOf(task)).toEqual(['usage_limit', 'usage_limit', null])
    expect(task.runs.map(({ attempt }) => attempt)).toEqual([1, 1, 1])
    const parked = events.filter((event) => event.type === 'task.parked')
    expect(parked.map((event) => event.data.kind)).toEqual(['usage_limit', 'usage_limit'])
    expect(parked[0]?.data.detail).toBe('HTTP 429 rate limited, try again in 2 seconds')
  }, 40_000)

  it('waits for a time of day that it names, and goes on when it is let go', async () => {
    const { id } = await begin('echo "usage limit reached, resets at 3pm (UTC)" >&2; exit 1')
    await eventsUntil(daemon, id, isResting)
    const task = await daemon.runtime.getTask(id)
    expect(task).toMatchObject({ state: 'parked', reason: { kind: 'usage_limit' } })
    expect(task.resumeAt).toBe(resetTime('resets at 3pm (UTC)', new Date(Date.parse(task.runs[0]!.endedAt!)))?.toISOString())
    await daemon.runtime.resumeTask(id, { by: 'test' })
    await eventsUntil(daemon, id, isOver)
    expect(await daemon.runtime.getTask(id)).toMatchObject({ state: 'completed', result: { text: 'worked' } })
  })

  it.each([
    ['a limit whose end nobody knows', 'HTTP 429 rate limited', 'rate_limited'],
    ['a network that fails', 'curl: (6) Could not resolve host: api.example', 'network'],
    ['a provider that is overloaded', 'HTTP 529 overloaded', 'overloaded'],
    ['a service that is not there', 'Error: 503 Service Unavailable', 'overloaded'],
  ])(
    'is tried again after %s',
    async (_, said, category) => {
      const { task } = await finish(`echo "${said}" >&2; exit 1`, `echo "${said}" >&2; exit 1`)
      expect(task).toMatchObject({ state: 'completed', result: { text: 'worked' } })
      expect(categoriesOf(task)).toEqual([category, category, null])
    },
    40_000,
  )

  it('that needs a login is not tried again, and says what to do', async () => {
    const { task } = await finish('echo "HTTP 401 Unauthorized" >&2; exit 1')
    expect(task).toMatchObject({
      state: 'failed',
      reason: {
        kind: 'auth_failed',
        detail: expect.stringMatching(
          /^HTTP 401 Unauthorized\. Fix: log in with \/bin\/sh once in a terminal, or give it its key/,
        ),
      },
    })
    expect(task.runs).toHaveLength(1)
  })

  it('whose conversation is too long for its model fails as that', async () => {
    const { task } = await finish('echo "Error: prompt is too long: 210000 tokens > 200000 maximum" >&2; exit 1')
    expect(task).toMatchObject({ state: 'failed', reason: { kind: 'context_overflow' } })
    expect(task.runs).toHaveLength(1)
  })

  it('that speaks of 429 in an answer and ends well has met no limit', async () => {
    const { task } = await finish('echo "HTTP 429 rate limited"; echo "HTTP 429 rate limited" >&2')
    expect(task).toMatchObject({ state: 'completed', result: { outcome: 'succeeded', text: 'HTTP 429 rate limited' } })
    expect(task.runs).toHaveLength(1)
  })

  it('is understood by the patterns of its settings', async () => {
    const said = 'echo "the well is dry until in 1 second" >&2; exit 1'
    const { task } = await finish(said, 'echo worked', 'echo worked', {
      options: {
        command: ['/bin/sh', '-c', `cat > prompt; echo x >> starts; [ $(wc -l < starts) != 1 ] || { ${said}; }; echo worked`],
        failurePatterns: { usage_limit: ['the well is dry until (.+)'] },
      },
    })
    expect(task).toMatchObject({ state: 'completed', result: { text: 'worked' } })
    expect(categoriesOf(task)).toEqual(['usage_limit', null])
  }, 40_000)

  it('with keys of several makers asks through the gateway with the key of its format, and past it with another', async () => {
    const show =
      'cat > prompt; echo "$OPENAI_API_BASE ${#OPENAI_API_KEY} ${#OTHER_API_KEY}" | sed "s|http://[^/]*|here|"; echo "$@"'
    const seen = async (set: Record<string, string>) => {
      const { task } = await finish('true', 'true', 'true', {
        model: 'gpt-5',
        options: {
          command: ['/bin/sh', '-c', show, 'agent'],
          modelFlag: '--model',
          wire: 'openai-chat',
          keys: ['OTHER_API_KEY', 'OPENAI_API_KEY'],
          wireKeys: ['OPENAI_API_KEY'],
          baseUrlVariable: 'OPENAI_API_BASE',
          modelPrefix: 'openai/',
        },
        env: { pass: [], set },
      })
      return task.result?.text
    }
    const key = 'key-0123456789-of-one-maker'
    expect(await seen({ OTHER_API_KEY: key })).toBe(` 0 ${key.length}\n--model=gpt-5`.trim())
    expect(await seen({ OPENAI_API_KEY: key })).toMatch(/^here\/model\/v1 \d+ 0\n--model=openai\/gpt-5$/)
  })

  it('that fails is an error in the log, with its code and the end of what it printed, made harmless', async () => {
    const key = 'sk-0123456789-of-this-agent'
    const { id, task } = await finish(
      `printf '%0900d the end of the answer\\n' 0; printf '%04000d \\033[2Jdisk full %s\\n' 0 $A_KEY >&2; exit 9`,
      'echo worked',
      'echo worked',
      { env: { pass: [], set: { A_KEY: key } } },
    )
    expect(task).toMatchObject({ state: 'failed', reason: { kind: 'exit_code' } })
    const line = lineOf(id)
    expect(line).toMatchObject({ level: 'error', outcome: 'failed', category: 'exit_code', exitCode: 9 })
    expect(line?.stdout).toMatch(/^\(\d+ more characters\) … 0+ the end of the answer$/)
    expect(line?.stderr).toMatch(/^\(\d+ more characters\) … 0+ \S+\[2Jdisk full /)
    expect(String(line?.stdout).length).toBeLessThan(600)
    expect(String(line?.stderr).length).toBeLessThan(2_100)
    expect(JSON.stringify(line)).not.toContain('\\u001b')
    expect(JSON.stringify(line)).not.toContain(key)
  })

  it('that only waits for a limit with a known end is no error in the log', async () => {
    const { id } = await begin('echo "HTTP 429, try again in 2 hours" >&2; exit 1')
    await eventsUntil(daemon, id, isResting)
    expect(lineOf(id)).toMatchObject({ level: 'info', category: 'usage_limit', stderr: 'HTTP 429, try again in 2 hours' })
  })
})
