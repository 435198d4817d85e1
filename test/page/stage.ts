import { chmod, copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import axe from 'axe-core'
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { expect } from 'vitest'
import { type Client, createClient } from '../../src/client/index.ts'
import { type Running, serve } from '../e2e/pawl.ts'
import { makeHome } from '../engine/ready-database.ts'

const fakeAgent = resolve(import.meta.dirname, '../fake-agent/fake-agent.js')

/** A real daemon in a home of its own, and the system's browser. */
export interface Stage {
  readonly home: string
  readonly workspace: string
  /** The same verbs as the page has, for what a test does behind its back. */
  readonly client: Client
  /** The same for whoever has another token. */
  clientOf(token: string): Client
  /** A browser that has signed in; `width` and so on as a device has them. What goes wrong in it fails the test that closes it. */
  open(path?: string, device?: BrowserContextOptions): Promise<Tab>
  /** Ends the daemon and starts it again on the same port. */
  restart(): Promise<void>
  /** Ends the daemon, does something without it, and starts it again on the same port. */
  away(act: () => Promise<void>): Promise<void>
  stop(): Promise<void>
}

export interface Tab {
  readonly page: Page
  readonly context: BrowserContext
  /** Errors, refused policies and failed requests so far. */
  readonly wrong: string[]
  /** Another screen, by its path. */
  go(path: string): Promise<void>
  close(): Promise<void>
}

/** A prompt that the fake agent takes for its script. */
export const script = (...steps: Record<string, unknown>[]) => JSON.stringify(steps)

/** `settings` are further agents, then whatever else the file of settings holds, or all of it if they begin with `agents:`; `env` is what the daemon finds in its environment. */
export async function startStage(settings = '', env: Record<string, string> = {}): Promise<Stage> {
  const { path: home, remove } = await makeHome('pawl-page-')
  const workspace = await mkdtemp(join(tmpdir(), 'pawl-page-ws-'))
  // The walls show an agent its workspace and nothing of this repository; in place, so that nothing has to be copied.
  await chmod(workspace, 0o777)
  await copyFile(fakeAgent, join(workspace, 'fake-agent.mjs'))
  const agents = `agents:
  fake:
    adapter: custom
    command: [${process.execPath}, fake-agent.mjs]
`
  await writeFile(join(home, 'config.yaml'), settings.startsWith('agents:') ? settings : `${agents}${settings}`, { mode: 0o600 })
  let daemon: Running & { url: string; token: string } = await serve(home, { env })
  const connect = () => createClient({ url: daemon.url, token: daemon.token })
  let client = connect()
  const browser = await systemBrowser()
  const end = async () => {
    daemon.process.kill('SIGTERM')
    await daemon.ended
  }
  const away = async (act: () => Promise<void>) => {
    const port = new URL(daemon.url).port
    await end()
    await act()
    daemon = await serve(home, { port, env })
    client = connect()
  }
  const opened = new Set<BrowserContext>()
  return {
    home,
    workspace,
    get client() {
      return client
    },
    clientOf: (token) => createClient({ url: daemon.url, token }),
    async open(path = '/', device = { viewport: { width: 1280, height: 800 } }) {
      const context = await browser.newContext(device)
      opened.add(context)
      const page = await context.newPage()
      const wrong: string[] = []
      page.on('pageerror', (error) => wrong.push(error.message))
      page.on('console', (message) => {
        if (message.type() === 'error' && !/ERR_CONNECTION|ERR_INCOMPLETE|Failed to load resource/.test(message.text()))
          wrong.push(message.text())
      })
      const go = async (to: string) => {
        await page.goto(`${daemon.url}${to}`)
      }
      // The browser's own store of cookies, without a screen that nobody looks at.
      const code = await client.createSignInCode({ opens: true })
      expect((await context.request.get(`${daemon.url}${code.path}`)).status()).toBe(200)
      await go(path)
      return { page, context, wrong, go, close: () => context.close() }
    },
    restart: () => away(async () => undefined),
    away,
    async stop() {
      for (const context of opened) await context.close()
      await end()
      await remove()
      await rm(workspace, { recursive: true, force: true })
    },
  }
}

let launched: Promise<Browser> | undefined
/** One for all test files of this process, which it ends with: each tab is a profile of its own. */
function systemBrowser(): Promise<Browser> {
  launched ??= chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] })
  return launched
}

type ColorScheme = 'light' | 'dark'

/** Where every screen is looked at; at a desk by night too, which changes nothing but colours. */
export const devices = {
  'at a desk': { viewport: { width: 1280, height: 800 }, schemes: ['light', 'dark'] },
  'on a phone': { viewport: { width: 360, height: 740 }, schemes: ['light'] },
} as const
export type DeviceName = keyof typeof devices

/** On each device the screen keeps nobody out and nothing is wider than the window. A screen is loaded once for all of them. */
export async function expectFitsEverywhere(page: Page, look?: (device: DeviceName) => Promise<unknown>): Promise<void> {
  for (const [name, { viewport, schemes }] of Object.entries(devices)) {
    await page.setViewportSize(viewport)
    await expectFits(page, schemes)
    await look?.(name as DeviceName)
  }
  await page.setViewportSize(devices['at a desk'].viewport)
}

/** In each of these lights the screen keeps nobody out and nothing is wider than the window. */
export async function expectFits(page: Page, schemes: readonly ColorScheme[]): Promise<void> {
  const [first = 'light', ...others] = schemes
  const fits = async (colorScheme: ColorScheme, rules?: readonly string[]) => {
    await page.emulateMedia({ colorScheme })
    // What follows from the size or the light of the window is drawn by then.
    await page.evaluate('new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))')
    await expectAccessible(page, rules)
    expect(await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')).toBe(0)
  }
  await fits(first)
  for (const other of others) await fits(other, rulesOfColour)
  await page.emulateMedia({ colorScheme: first })
}
const rulesOfColour = ['color-contrast', 'link-in-text-block']

/** Nothing on this screen keeps anybody out, as far as a program can tell; by these rules alone, if some are named. */
export async function expectAccessible(page: Page, rules?: readonly string[]): Promise<void> {
  // Put in by the browser's own debugger, so that the policy of the page stays as it is.
  if (!(await page.evaluate('"axe" in globalThis'))) await page.evaluate(axe.source)
  const found = await page.evaluate(async (runOnly) => {
    const checker = (
      globalThis as unknown as {
        axe: { run(options: object): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> }
      }
    ).axe
    // What is well is not listed node by node.
    return (await checker.run({ resultTypes: ['violations'], selectors: false, ...(runOnly && { runOnly }) })).violations.map(
      ({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join(' | ')}`,
    )
  }, rules)
  expect(found).toEqual([])
}
