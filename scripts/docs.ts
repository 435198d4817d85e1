/** Writes the pages that are made from tables in the code, so that they cannot say something else. `--check` only compares. */
import { readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { a2aPage } from './a2a-page.ts'
import { agentsPage, eventsPage, operatingPage, statesPage } from './pages.ts'

const docs = resolve(import.meta.dirname, '../docs')
const textOf = (name: string) => readFileSync(resolve(docs, name), 'utf8')
const pages = {
  'events.md': eventsPage(),
  'conformance/a2a.md': a2aPage(),
  'states.md': statesPage(textOf('states.md')),
  'agents.md': agentsPage(textOf('agents.md')),
  'operating.md': operatingPage(textOf('operating.md')),
}

let stale = 0
for (const [name, text] of Object.entries(pages)) {
  const file = resolve(docs, name)
  if (textOf(name) === text) continue
  stale++
  if (process.argv.includes('--check')) console.error(`docs/${name} is not what the code says; run: node scripts/docs.ts`)
  else writeFileSync(file, text)
}
process.exit(process.argv.includes('--check') && stale > 0 ? 1 : 0)
