import { PawlError } from '../../domain/error.ts'
import { compileGlob } from '../../domain/rule/glob.ts'
import { isSameTool } from '../../domain/rule/tools.ts'
import type { LaunchSpec } from '../port.ts'
import { isTakenAway } from './rules.ts'

type Given = Pick<LaunchSpec, 'native' | 'disabledTools' | 'toolAccess'>

/** Is this one of the tools that the profile never offers? */
export const isDisabled = (spec: Given, tool: string) => isNamed(spec, tool) || isTakenAway(spec, tool)

const isNamed = ({ disabledTools = [] }: Given, tool: string) =>
  disabledTools.some((other) => (other.includes('*') ? compileGlob(other).matches(tool) : isSameTool(tool, other)))

/** Some models are always offered the tool for patches: as of 0.166 no setting keeps it from them. */
export function checkTools(spec: Given): void {
  const kept = spec.native === false ? 'tools.native' : isNamed(spec, 'apply_patch') ? 'tools.disabled' : undefined
  if (kept === undefined) return
  throw new PawlError(
    'unsupported',
    `Codex cannot be kept from its own tool for changing files, as ${kept} of the profile wants: choose another profile, or another agent.`,
  )
}
