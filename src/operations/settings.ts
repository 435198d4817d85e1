import { unsupported } from '../domain/error.ts'
import type { SettingsChange, SettingsChanged, SettingsView } from '../domain/view/settings.ts'
import type { Audit, Caller } from '../engine/auth/audit.ts'
import type { Bus } from '../engine/journal/bus.ts'

/** Seeing and changing the settings of the home. */
export interface SettingsVerbs {
  getSettings(): Promise<SettingsView>
  /** Checked as a whole before anything is written; the file before it is kept for `undoSettings`. Without changes, what somebody has written by hand is taken up. */
  changeSettings(change: SettingsChange, caller: Caller): Promise<SettingsChanged>
  /** The file as it was before the last change; doing it twice brings the change back. */
  undoSettings(caller: Caller): Promise<SettingsChanged>
}

/** Whoever keeps the file. `prepare` refuses what would not work and writes nothing; what it answers does. */
export interface SettingsKeeper {
  read(): Promise<SettingsView>
  prepare(change: SettingsChange | 'undo'): Promise<{ told: SettingsChanged; before: string | null; write(): Promise<void> }>
}

export interface SettingsVerbParts {
  readonly audit: Audit
  readonly bus: Bus
  /** Undefined where the settings came from no file. */
  readonly settings?: SettingsKeeper | undefined
}

export function settingsVerbs({ audit, bus, settings }: SettingsVerbParts): SettingsVerbs {
  const keeper = () => {
    if (!settings) throw unsupported('This program was given its settings and has no file of them.')
    return settings
  }
  // One after the other: each stands on the file that the one before has left.
  let line: Promise<unknown> = Promise.resolve()
  const inLine = <T>(work: () => Promise<T>): Promise<T> => {
    const turn = line.then(work)
    line = turn.catch(() => undefined)
    return turn
  }
  const change = (what: SettingsChange | 'undo', caller: Caller) =>
    inLine(async () => {
      const { told, before, write } = await keeper().prepare(what)
      if (told.changed.length > 0 || before !== told.hash) {
        // Never what the values are: some of them are secret.
        const paths = told.changed.map(({ path }) => path)
        const detail = { file: told.file, paths: paths.slice(0, 100), before, after: told.hash }
        await audit.record(caller, what === 'undo' ? 'settings.undo' : 'settings.change', told.file, detail)
      }
      await write()
      // There may be more room now.
      bus.tell('admission')
      return told
    })
  return {
    getSettings: async () => keeper().read(),
    changeSettings: (what, caller) => change(what, caller),
    undoSettings: (caller) => change('undo', caller),
  }
}
