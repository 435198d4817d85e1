/** Draws the icons of the installed page from web/public/icon.svg, after that was changed: node scripts/icons.ts */
import { readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { chromium } from 'playwright-core'

const folder = resolve(import.meta.dirname, '../web/public')
const drawn = readFileSync(resolve(folder, 'icon.svg'), 'utf8')
/** Systems cut what they like from the edges of a maskable icon: its ground goes to the edge, and the drawing stays in the middle. */
const maskable = drawn
  .replace('rx="14"', '')
  .replace(/(<path[\s\S]*)<\/svg>/, '<g transform="translate(32 32) scale(.72) translate(-32 -32)">$1</g></svg>')

const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] })
for (const [name, size, svg] of [
  ['icon-192.png', 192, drawn],
  ['icon-512.png', 512, drawn],
  ['icon-maskable-512.png', 512, maskable],
] as const) {
  const page = await browser.newPage({ viewport: { width: size, height: size } })
  await page.setContent(`<style>*{margin:0}svg{display:block;width:100vw;height:100vh}</style>${svg}`)
  writeFileSync(resolve(folder, name), await page.screenshot({ omitBackground: true }))
}
await browser.close()
