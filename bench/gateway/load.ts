import { Agent, request } from 'node:http'
import { quantile } from '../figure.ts'

/** Asks one server again and again by kept connections, in a process of its own, and prints what it saw. */
export interface Load {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly connections: number
  readonly requests: number
  readonly streams: boolean
}

export interface Loaded {
  /** With those that were asked to warm up. */
  readonly calls: number
  readonly perSecond: number
  readonly firstP50: number
  readonly firstP99: number
}

const load = JSON.parse(process.argv[2] ?? '') as Load
const agent = new Agent({ keepAlive: true, maxSockets: load.connections })
const body = JSON.stringify({
  model: 'bench-model',
  max_tokens: 256,
  system: 'You look after a repository.',
  messages: [{ role: 'user', content: 'Look at the failing test and repair it.' }],
  ...(load.streams ? { stream: true } : {}),
})
const headers = {
  'content-type': 'application/json',
  'anthropic-version': '2023-06-01',
  'content-length': String(Buffer.byteLength(body)),
  ...load.headers,
}
const firsts: number[] = []

const askOnce = () =>
  new Promise<void>((resolve, reject) => {
    const since = performance.now()
    const sent = request(load.url, { method: 'POST', agent, headers }, (answer) => {
      let said = ''
      let isFirst = true
      answer.setEncoding('utf8')
      answer.on('data', (part: string) => {
        if (isFirst) firsts.push(performance.now() - since)
        isFirst = false
        said += part
      })
      answer.on('end', () => {
        const isWhole = answer.statusCode === 200 && said.includes(load.streams ? 'message_stop' : 'nothing was changed')
        if (isWhole) resolve()
        else reject(new Error(`${load.url} answered ${answer.statusCode}: ${said.slice(0, 500)}`))
      })
      answer.on('error', reject)
    })
    sent.on('error', reject)
    sent.end(body)
  })

const ask = async (count: number) => {
  let left = count
  const one = async () => {
    while (left-- > 0) await askOnce()
  }
  await Promise.all(Array.from({ length: load.connections }, one))
}

// What is compiled only after it was called often is compiled.
const warming = Math.min(load.requests, 40 * load.connections)
await ask(warming)
firsts.length = 0
const since = performance.now()
await ask(load.requests)
const seconds = (performance.now() - since) / 1_000
const loaded: Loaded = {
  calls: warming + load.requests,
  perSecond: load.requests / seconds,
  firstP50: quantile(firsts, 0.5),
  firstP99: quantile(firsts, 0.99),
}
process.stdout.write(`${JSON.stringify(loaded)}\n`)
agent.destroy()
