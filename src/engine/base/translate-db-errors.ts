import { messageOf, PawlError, unavailable } from '../../domain/error.ts'
import { isConnectionLoss, isDiskFull, isPassing } from '../../store/database.ts'

/** Turns database errors into `PawlError`s that say what to do. */
export async function translateDbErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof PawlError) throw error
    if (isDiskFull(error)) throw unavailable('The disk is full; free some space and try again. Nothing was lost.', error)
    if (isConnectionLoss(error)) throw unavailable(`The database is away for the moment: ${messageOf(error)}. Try again.`, error)
    if (isPassing(error))
      throw unavailable(`The database has too much to do for the moment: ${messageOf(error)}. Try again.`, error)
    throw error
  }
}
