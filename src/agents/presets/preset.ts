import type { Preset } from '../port.ts'

/** A preset without what its adapter is told in other words. */
type Written = Omit<Preset, 'adapter'>

/** One that is spoken to as any command is: its keys and its install command are options of it. */
export const asCommand = ({ options, ...preset }: Written): Preset => ({
  ...preset,
  adapter: 'custom',
  options: { ...options, ...(preset.keys.length > 0 ? { keys: preset.keys } : {}), install: preset.install },
})
