import { parentPort } from 'node:worker_threads'
import { messageOf, PawlError } from '../domain/error.ts'
import type { Jobs } from './jobs.ts'
import { compileRegex, type Regex } from './regex.ts'
import { searchLines } from './search-lines.ts'

let regex: Regex | undefined
// Most threads search in files; the library for schemas takes 100 ms to load.
const schemas = () => import('./json-schema.ts')

const work: { [Name in keyof Jobs]: (input: Jobs[Name]['input']) => Promise<Jobs[Name]['output']> } = {
  assertSchema: async ({ schema }) => (await schemas()).assertSchema(JSON.parse(schema)),
  checkAnswer: async ({ schema, text }) => (await schemas()).checkAnswer(JSON.parse(schema), text),
  async readTasks({ text, ...options }) {
    const { readTaskText } = await import('../cli/task-file/read.ts')
    try {
      return { file: readTaskText(text, options) }
    } catch (error) {
      if (!(error instanceof PawlError)) throw error
      return { code: error.code, fault: error.message, details: error.details }
    }
  },
  async search({ pattern, ignoreCase }) {
    regex = compileRegex(pattern, { ignoreCase, most: 4_000 })
    return null
  },
  lines: async (searched) => searchLines(regex!, searched),
}

parentPort!.on('message', async ({ name, input }: { name: keyof Jobs; input: never }) => {
  try {
    parentPort!.postMessage({ output: await work[name](input) })
  } catch (error) {
    parentPort!.postMessage({ error: messageOf(error) })
  }
})
parentPort!.postMessage('ready')
