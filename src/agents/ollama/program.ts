import { ownProgram } from '../shared/own-program.ts'

/** The loop that makes a model an agent. */
export const program = ownProgram('ollama', { sources: ['agents/shared/program-lines.ts', 'domain/base/object.ts'] })
