import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { aboutSettings } from '../config/about.ts'
import type { Config } from '../config/config.ts'
import { editText, parsePath } from '../config/edit.ts'
import { changedPaths, showConfig } from '../config/show.ts'
import { hashOf } from '../config/trust.ts'
import { conflict, invalid, messageOf } from '../domain/error.ts'
import type { SettingsChanged } from '../domain/view/settings.ts'
import type { SettingsKeeper } from '../operations/settings.ts'
import { writeFileDurably } from '../store/durable-file.ts'
import { effectOf, type LiveConfig } from './live-config.ts'

/** Keeps the settings of the home: checks a change as a whole, writes it so that a crash leaves the old file or the new one, and takes over what can be. */
export function settingsKeeper(live: LiveConfig): SettingsKeeper {
  const { config } = live
  const file = join(config.home, 'config.yaml')
  const previous = `${file}.previous`

  return {
    async read() {
      const bytes = await bytesOf(file)
      const found = await config.again().then(
        (next) => ({ next, problem: null }),
        (error: unknown) => ({ next: undefined, problem: messageOf(error) }),
      )
      const about = aboutSettings()
      return {
        file,
        hash: bytes ? hashOf(bytes) : null,
        projectFile: config.files.project ?? null,
        settings: live.rows().map((row) => ({ ...row, effect: effectOf(row.path), ...about(parsePath(row.path)) })),
        waiting: found.next ? differences(live, found.next).map(({ path, after }) => ({ path, value: after })) : [],
        problem: found.problem,
        canUndo: (await bytesOf(previous)) !== undefined,
        untrusted: [...(config.untrusted?.keys ?? [])],
        notes: [...config.notes],
      }
    },

    async prepare(change) {
      const bytes = await bytesOf(file)
      const before = bytes ? hashOf(bytes) : null
      if (change !== 'undo' && change.hash !== undefined && change.hash !== before)
        throw conflict(`${file} was changed by somebody else meanwhile; look at it again.`)
      const older = change === 'undo' ? await bytesOf(previous) : undefined
      if (change === 'undo' && !older) throw invalid('No change of the settings was made here yet, so there is nothing to undo.')
      const text = older ? older.toString('utf8') : editText(bytes?.toString('utf8') ?? '', change === 'undo' ? {} : change)
      const isSame = text === (bytes?.toString('utf8') ?? '')
      const next = await config.again(isSame ? undefined : Buffer.from(text))
      const changed = differences(live, next)
      const told: SettingsChanged = {
        changed,
        overruled: change === 'undo' ? [] : overruled(Object.keys(change.set ?? {}), next, file),
        file,
        hash: isSame ? before : hashOf(Buffer.from(text)),
        restart: changed.some(({ effect }) => effect === 'restart'),
      }
      const write = async () => {
        if (!isSame) {
          await writeFileDurably(previous, bytes?.toString('utf8') ?? '')
          await writeFileDurably(file, text)
        }
        live.apply(next)
      }
      return { told, before, write }
    },
  }
}

/** What is otherwise in the settings as they would be read now. */
function differences(live: LiveConfig, next: Config): SettingsChanged['changed'] {
  const before = new Map(live.rows().map(({ path, value }) => [path, value]))
  const after = new Map(showConfig(next).map(({ path, value }) => [path, value]))
  return changedPaths(live.config, next).map((path) => ({
    path,
    before: before.get(path) ?? null,
    after: after.get(path) ?? null,
    effect: effectOf(path),
  }))
}

/** The command line, a variable and the project's file win over the home's. */
const overruled = (paths: readonly string[], next: Config, file: string) =>
  showConfig(next)
    .filter(({ path, source }) => paths.includes(path) && !file.endsWith(source.replace(/:\d+$/, '')))
    .map(({ path, source }) => ({ path, by: source }))

async function bytesOf(file: string): Promise<Buffer | undefined> {
  try {
    return await readFile(file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
