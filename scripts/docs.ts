/** Writes the pages that are made from tables in the code, so that they cannot say something else. `--check` only compares. */
import { readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { eventsPage, statesPage } from './pages.ts'

const docs = resolve(import.meta.dirname, '../docs')
const pages = { 'events.md': eventsPage(), 'states.md': statesPage(readFileSync(resolve(docs, 'states.md'), 'utf8')) }

let stale = 0
for (const [name, text] of Object.entries(pages)) {
  const file = resolve(docs, name)
  if (readFileSync(file, 'utf8') === text) continue
  stale++
  if (process.argv.includes('--check')) console.error(`docs/${name} is not what the code says; run: node scripts/docs.ts`)
  else writeFileSync(file, text)
}
process.exit(process.argv.includes('--check') && stale > 0 ? 1 : 0)
