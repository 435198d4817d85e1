import { ownProgram } from '../own-program.ts'

/** The loop that makes a model an agent. */
export const program = ownProgram('ollama', { sources: ['agents/program-lines.ts', 'domain/object.ts'] })
