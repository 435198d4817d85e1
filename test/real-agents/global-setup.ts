import { messageOf } from '../../src/domain/error.ts'
import { failureVariable, installedAgents } from './install.ts'

/**
 * Before the first test of this folder, so that no test's time runs while something is downloaded. Thrown here, a failure would end the
 * whole run; in the environment of the tests it fails those that ask for the programs.
 */
export default async function setup(): Promise<void> {
  await installedAgents().catch((error: unknown) => {
    process.env[failureVariable] = messageOf(error)
  })
}
