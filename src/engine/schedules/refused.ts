/** Schedules of the settings that are not in force, and why: known to the process that has read the settings. */
export interface RefusedSchedules {
  /** What was refused of one file, in the place of what was before. */
  set(source: string, refused: readonly Omit<RefusedSchedule, 'source'>[]): void
  list(): RefusedSchedule[]
}

export interface RefusedSchedule {
  readonly name: string
  readonly source: string
  readonly detail: string
}

export function rememberRefused(): RefusedSchedules {
  const bySource = new Map<string, RefusedSchedule[]>()
  return {
    set: (source, refused) =>
      void bySource.set(
        source,
        refused.map((one) => ({ ...one, source })),
      ),
    list: () => [...bySource.values()].flat(),
  }
}
