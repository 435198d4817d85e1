import { gzipSync } from 'node:zlib'
import { type Browser, chromium, type Page } from 'playwright-core'
import { createClient } from '../src/client/index.ts'
import { manyEvents, seedEvents } from '../test/page/seed.ts'
import { type DaemonUnderTest, startDaemon } from './daemon.ts'
import { type Benchmark, median, ms } from './figure.ts'
import { scrollThrough, untilInteractive } from './page-scripts.ts'
import { inPlace } from './place.ts'

const eventCount = 50_000
const openings = 7
const scrolls = 3

export const benchmark: Benchmark = {
  about: `the page in the system's browser: what it loads, how soon it can be used, and a scroll through ${eventCount.toLocaleString()} events`,
  measure: ({ profileDir, say }) =>
    inPlace(async (place) => {
      const daemon = await startDaemon(place, { settings: { agents: { echo: { command: ['/bin/echo', 'done'] } } }, profileDir })
      const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] })
      place.onEnd(() => browser.close())
      const task = await daemon.createTask({ agent: 'echo', name: 'seen first' })
      await daemon.completed('echo', 1)
      await seedEvents(daemon.home, task.id, manyEvents(eventCount, (await daemon.getTask(task.id)).runs[0]!.id))

      const page = await signedIn(browser, daemon)
      const bytes = await firstLoad(page, daemon.url)
      const [opened, blank] = await opening(page, daemon.url)
      const scroll = await scrolled(page, `${daemon.url}/tasks/${task.id}`, say)
      return [
        {
          name: 'JS of the first load, gzip',
          ours: `${Math.round(bytes / 1000)} KB`,
          peer: '',
          target: '≤ 250 KB',
          isMet: bytes <= 250_000,
        },
        {
          name: 'page interactive after',
          ours: ms(opened),
          peer: `${ms(blank)} a picture`,
          ratio: opened / blank,
          target: '≤ 1 s',
          isMet: opened <= 1_000,
        },
        {
          name: `longest frame, scroll over ${eventCount.toLocaleString()} events`,
          ours: ms(scroll.longest),
          peer: `${ms(scroll.idle)} untouched`,
          ratio: scroll.longest / scroll.idle,
          target: '≤ 50 ms',
          isMet: scroll.longest <= 50,
        },
        {
          name: 'its longest piece of work, CPU',
          ours: ms(scroll.cpuMs),
          peer: '',
          target: '≤ 50 ms',
          isMet: scroll.cpuMs <= 50,
        },
      ]
    }),
}

async function signedIn(browser: Browser, { url, token }: DaemonUnderTest): Promise<Page> {
  const client = createClient({ url, token })
  const { path } = await client.createSignInCode({ opens: true })
  client.close()
  const page = await (await browser.newContext({ viewport: { width: 1280, height: 900 } })).newPage()
  await page.goto(new URL(path, url).href)
  await page.waitForURL(`${url}/`)
  return page
}

/** All scripts that the browser asks for until the first screen stands. */
async function firstLoad(page: Page, url: string): Promise<number> {
  await page.goto('about:blank')
  const scripts = new Set<string>()
  const note = (request: { url(): string }) => new URL(request.url()).pathname.endsWith('.js') && scripts.add(request.url())
  page.on('request', note)
  await page.goto(`${url}/`)
  await page.getByText('seen first').first().waitFor()
  page.off('request', note)
  const sizes = [...scripts].map(async (script) => gzipSync(await (await fetch(script)).bytes()).length)
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
}

/** From the start of the navigation until the first screen shows what there is and has answered a key; beside it, a file of the same server. */
async function opening(page: Page, url: string): Promise<[number, number]> {
  const times: { ours: number[]; blank: number[] } = { ours: [], blank: [] }
  await page.addInitScript(untilInteractive, { text: 'seen first', keys: ['g', 't'], path: '/tasks' })
  for (let n = 0; n < openings; n++) {
    await page.goto(`${url}/`)
    const answered = await page.waitForFunction(() => (globalThis as { answeredAt?: number }).answeredAt)
    times.ours.push((await answered.jsonValue())!)
    await page.goto(`${url}/icon.svg`)
    times.blank.push(await page.evaluate(() => performance.now()))
  }
  return [median(times.ours), median(times.blank)]
}

async function scrolled(page: Page, address: string, say: (text: string) => void): Promise<Scrolled> {
  const since = performance.now()
  await page.goto(address)
  await page.getByRole('log').waitFor()
  await page.getByText(/events are read so far/).waitFor({ state: 'detached' })
  say(`${eventCount.toLocaleString()} events are read in ${ms(performance.now() - since)}`)
  const rounds: Scrolled[] = []
  for (let n = 0; n < scrolls; n++) {
    const idle = await page.evaluate(scrollThrough, { steps: [{ px: 0, frames: 300 }] })
    const busy = await busiest(page, async () => {
      // As a wheel does, as a thumb does, and as somebody does who drags the bar.
      const steps = [
        { px: 120, frames: 150 },
        { px: 700, frames: 150 },
        { px: 6_000, frames: 300 },
        { px: -2_500, frames: 150 },
      ]
      return page.evaluate(scrollThrough, { steps })
    })
    say(
      `${busy.told.frames} frames, the longest ${ms(busy.told.longest)}, untouched ${ms(idle.longest)}; the page worked ${ms(busy.cpuMs)} at most in one piece`,
    )
    rounds.push({ longest: busy.told.longest, idle: idle.longest, cpuMs: busy.cpuMs })
  }
  // Whatever else the machine does makes some frames of some rounds longer; the page itself does the same in each.
  return rounds.toSorted((a, b) => a.longest - b.longest)[0]!
}

interface Scrolled {
  readonly longest: number
  readonly idle: number
  /** The most that the page's own thread worked without a pause, in time of the processor. */
  readonly cpuMs: number
}

async function busiest<T>(page: Page, work: () => Promise<T>): Promise<{ told: T; cpuMs: number }> {
  const browser = page.context().browser()!
  await browser.startTracing(page, { categories: ['toplevel', '__metadata'] })
  const told = await work()
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString()) as { traceEvents: TraceEvent[] }
  const threads = traceEvents.filter(({ name, args }) => name === 'thread_name' && args.name === 'CrRendererMain')
  const mains = new Set(threads.map(({ pid, tid }) => `${pid} ${tid}`))
  const tasks = traceEvents.filter(({ name, pid, tid }) => name.endsWith('::RunTask') && mains.has(`${pid} ${tid}`))
  if (tasks.length === 0) throw new Error('The browser told nothing of what the page did.')
  return { told, cpuMs: tasks.reduce((most, { tdur = 0 }) => Math.max(most, tdur / 1_000), 0) }
}

interface TraceEvent {
  readonly name: string
  readonly pid: number
  readonly tid: number
  readonly args: { readonly name?: string }
  readonly tdur?: number
}
