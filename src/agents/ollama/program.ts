import { ownProgram } from '../shared/own-program.ts'

/** The loop that makes a model an agent. */
export const program = ownProgram('ollama', {
  sources: ['agents/shared/program-lines.ts', 'domain/error.ts', 'domain/base/object.ts', 'domain/base/path.ts'],
})
