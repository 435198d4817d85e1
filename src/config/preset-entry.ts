import type { Preset } from '../agents/port.ts'
import { didYouMean } from '../domain/base/nearest.ts'
import type { AgentEntry } from './layers.ts'
import { formatPath, type Path, type Report } from './problems.ts'
import type { Programs } from './resolve.ts'

/** What may be said of a program beside its preset: where it lies, and more arguments for it. */
const own = ['command', 'args']

/** An agent that names a preset, as if everything of the preset were written out. Undefined if it cannot be. */
export function fillIn(
  name: string,
  entry: AgentEntry,
  { presets, report }: Programs & { readonly report: Report },
): AgentEntry | undefined {
  const wanted = entry.preset
  if (wanted === undefined) return entry
  const preset = presets.find((candidate) => candidate.name === wanted)
  if (!preset) {
    const names = presets.map((candidate) => candidate.name)
    report(['agents', name, 'preset'], (where, shown) => {
      const known = `there is no preset "${wanted}" (there are ${names.join(', ')})`
      return `${formatPath(shown)} in ${where}: ${known}${didYouMean(wanted, names)}`
    })
    return undefined
  }
  const contradictions = contradicting(entry, preset)
  for (const path of contradictions)
    report(
      ['agents', name, ...path],
      (where, shown) =>
        `${formatPath(shown)} in ${where} is decided by preset "${wanted}"; leave one of the two out. "pawl config show" prints what the preset says.`,
    )
  if (contradictions.length > 0) return undefined
  const { pass = [], set = {} } = entry.env ?? {}
  return {
    ...entry,
    adapter: preset.adapter,
    options: { ...structuredClone(preset.options), ...entry.options },
    ...(entry.env || preset.env ? { env: { pass, set: { ...preset.env, ...set } } } : {}),
  }
}

function contradicting({ adapter, options = {} }: AgentEntry, preset: Preset): Path[] {
  const same = (key: string) => JSON.stringify(options[key]) === JSON.stringify(preset.options[key])
  return [
    ...(adapter === undefined || adapter === preset.adapter ? [] : [['adapter']]),
    ...Object.keys(options)
      .filter((key) => Object.hasOwn(preset.options, key) && !own.includes(key) && !same(key))
      .map((key) => ['options', key]),
  ]
}

/** Which settings of an agent its preset has decided. */
export function presetKeys(entry: AgentEntry | undefined, presets: readonly Preset[]): Path[] {
  const preset = presets.find((candidate) => candidate.name === entry?.preset)
  if (!preset) return []
  const options = Object.keys(preset.options).filter((key) => !Object.hasOwn(entry?.options ?? {}, key))
  return [
    ['adapter'],
    ...options.map((key) => ['options', key]),
    ...Object.keys(preset.env ?? {}).map((key) => ['env', 'set', key]),
  ]
}
