import { compileGlob } from '../../domain/rule/glob.ts'
import { isSameTool } from '../../domain/rule/tools.ts'
import type { Fetcher } from '../../sandbox/egress/fetch.ts'
import type { Tool } from '../base/tool.ts'
import { createFiles, type FilesOptions } from '../files/files.ts'
import { askUserQuestionTool } from './ask-user-question.ts'
import { bashTool } from './bash.ts'
import { editTool, multiEditTool, writeTool } from './edit.ts'
import { grepTool } from './grep.ts'
import { globTool, lsTool } from './list.ts'
import { readTool } from './read.ts'
import { readDocumentTool } from './read-document.ts'
import { gateBy, type Permit, type RunInside, type StrictParts } from './strict-parts.ts'
import { webFetchTool } from './web-fetch.ts'

export interface StrictOptions extends FilesOptions {
  /** Asked before every call, with where its paths really lead. */
  readonly permit: Permit
  /** May a search look into this file? Not counted and not asked about. */
  readonly mayRead?: ((path: string) => boolean) | undefined
  /** The run's own way out; without it there is no WebFetch. */
  readonly fetch?: Fetcher | undefined
  /** Without it there is no Bash. */
  readonly runInside?: RunInside | undefined
  /** `tools.disabled` of the profile: never offered. */
  readonly disabled?: readonly string[] | undefined
}

/** The tools of a run whose program may not use its own. Rejects if a root is missing: then the run must not start. */
export async function createStrictTools(options: StrictOptions): Promise<Tool[]> {
  const { disabled = [], fetch, runInside, mayRead = () => true } = options
  const parts: StrictParts = { files: await createFiles(options), gate: gateBy(options.permit), mayRead, fetch, runInside }
  const offered = [
    readTool(parts),
    readDocumentTool(parts),
    writeTool(parts),
    editTool(parts),
    multiEditTool(parts),
    globTool(parts),
    grepTool(parts),
    lsTool(parts),
    ...(fetch ? [webFetchTool(parts, fetch)] : []),
    ...(runInside ? [bashTool(parts, runInside)] : []),
    askUserQuestionTool(parts),
  ]
  const isDisabled = (name: string) =>
    disabled.some((other) => (other.includes('*') ? compileGlob(other).matches(name) : isSameTool(`mcp__pawl__${name}`, other)))
  return offered.filter(({ name }) => !isDisabled(name))
}
