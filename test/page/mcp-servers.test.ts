import { writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startOAuthPeer } from '../mcp-servers/oauth-server.ts'
import { expectAccessible, type Stage, startStage } from './stage.ts'

const program = resolve(import.meta.dirname, '../mcp-servers/stdio-server.js')
const pictures = process.env.PAWL_PICTURES

let stage: Stage
let wiki: Awaited<ReturnType<typeof startOAuthPeer>>
beforeAll(async () => {
  wiki = await startOAuthPeer()
  stage = await startStage()
}, 60_000)
afterAll(async () => {
  await stage.stop()
  await wiki.stop()
})

const devices = [
  ['desktop', { viewport: { width: 1280, height: 800 } }],
  ['phone', { viewport: { width: 360, height: 740 } }],
] as const

test('nothing is said of servers of tools where there are none', async () => {
  const tab = await stage.open('/agents')
  await tab.page.getByRole('heading', { name: 'demo', exact: true }).waitFor()
  await expect.poll(() => tab.page.getByText('Loading…').count(), { timeout: 15_000 }).toBe(0)
  expect(await tab.page.getByRole('heading', { name: 'Servers of tools' }).count()).toBe(0)
  await tab.close()
}, 60_000)

test('servers are shown as they are: healthy, broken, and shut until somebody signs in', async () => {
  const settings = {
    agents: {
      fake: { adapter: 'custom', command: [process.execPath, 'fake-agent.mjs'], options: { mcp: { path: 'mcp.json' } } },
    },
    mcpServers: {
      notes: { command: process.execPath, args: [program] },
      broken: { command: process.execPath, args: [program, '--broken'] },
      wiki: { url: wiki.url, oauth: true },
    },
  }
  await stage.away(() => writeFile(join(stage.home, 'config.yaml'), JSON.stringify(settings), { mode: 0o600 }))
  for (const [name, device] of devices) {
    const tab = await stage.open('/agents', device)
    const { page } = tab
    const servers = page.getByRole('region', { name: 'Servers of tools' })
    const card = (server: string) =>
      servers.getByRole('listitem').filter({ has: page.getByRole('heading', { name: server, exact: true }) })
    for (const server of ['notes', 'broken', 'wiki']) await card(server).getByRole('button', { name: 'Look now' }).click()
    await card('notes').getByText('reachable', { exact: true }).waitFor({ timeout: 30_000 })
    await card('broken').getByText('failed', { exact: true }).waitFor({ timeout: 30_000 })
    await card('wiki').getByText('needs sign-in', { exact: true }).waitFor({ timeout: 30_000 })
    await card('notes')
      .getByText(/offered to .*\bfake\b/)
      .waitFor()
    await card('broken')
      .getByText(/ended with exit code 3; it wrote: cannot go on: no database/)
      .waitFor()
    await card('wiki').getByText('pawl mcp-servers sign-in wiki').waitFor()
    await card('notes').getByText('5 tools').click()
    await card('notes').getByText('mcp__notes__whoami').waitFor()
    await expectAccessible(page)
    expect(await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')).toBe(0)
    if (pictures) await servers.screenshot({ path: `${pictures}/mcp-servers-${name}.png` })
    expect(tab.wrong).toEqual([])
    await tab.close()
  }
}, 120_000)
