import type { Jobs } from './jobs.ts'
import { compileRegex, type Regex } from './regex.ts'
import { searchLines } from './search-lines.ts'
import { serveJobs } from './serve-jobs.ts'

let regex: Regex | undefined
// Most threads search in files; the library for schemas takes 100 ms to load.
const schemas = () => import('./json-schema.ts')

serveJobs<Jobs>({
  assertSchema: async ({ schema }) => (await schemas()).assertSchema(JSON.parse(schema)),
  checkAnswer: async ({ schema, text }) => (await schemas()).checkAnswer(JSON.parse(schema), text),
  async search({ pattern, ignoreCase }) {
    regex = compileRegex(pattern, { ignoreCase, most: 4_000 })
    return null
  },
  lines: async (searched) => searchLines(regex!, searched),
})
