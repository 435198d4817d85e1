import { posix } from 'node:path'
import { invalid, PawlError } from '../../domain/error.ts'
import { compileGlob } from '../../domain/rule/glob.ts'
import type { Command, LaunchSpec } from '../port.ts'
import { doorServers } from '../shared/door-servers.ts'
import { withRepositoryInstructions } from '../shared/repository.ts'
import { withSkills } from '../shared/skills.ts'
import type { OllamaOptions } from './options.ts'
import { ownTools } from './own-tools.ts'
import type { Settings } from './program/settings.ts'
import { program } from './program.ts'
import { ownEndpoint } from './server.ts'
import { sessionFiles, sessionsFolder } from './session-files.ts'

export function ollamaCommand(spec: LaunchSpec<OllamaOptions>): Command {
  check(spec)
  return {
    ...program.command(spec.home, settingsOf(spec)),
    // The door's address is put in there, inside the walls.
    env: { PAWL_OLLAMA_URL: (spec.baseUrl ?? spec.endpoint ?? ownEndpoint).replace(/\/+$/, '') },
  }
}

function check({ extraArgs, resume, newSession, model }: LaunchSpec<OllamaOptions>): void {
  if (extraArgs.length > 0)
    throw new PawlError('unsupported', 'The Ollama agent takes no extra arguments; its options have what can be set.')
  for (const id of [resume, newSession])
    if (id !== undefined && !sessionFiles.id.test(id))
      throw invalid(`${JSON.stringify(id)} is not a conversation of the Ollama agent; those are UUIDs.`)
  if (model?.includes(':mode='))
    throw invalid(`Ollama knows no ${JSON.stringify(model)}: how much a model thinks is said by the option think.`)
}

function settingsOf(spec: LaunchSpec<OllamaOptions>): Settings {
  const { options, workspace, home, resume, contextDirs = [], skills, disabledTools = [] } = spec
  const places = [workspace, ...contextDirs, ...(skills?.items.map(({ path }) => path) ?? [])]
  return {
    model: spec.model ?? '',
    system: systemPrompt(spec),
    session: { id: resume ?? spec.newSession ?? crypto.randomUUID(), resume: resume !== undefined },
    folder: posix.join(home, sessionsFolder),
    workspace,
    // Walls that hold say better what may be read and written than a look at a path.
    confinedTo: spec.walled ? undefined : places,
    tools: spec.native === false ? [] : ownTools.filter((name) => !isAbsent(spec, name)),
    servers: doorServers(spec),
    withoutMcp: disabledTools.map((name) => (name.startsWith('mcp__') ? name : `mcp__pawl__${name}`)),
    maxTurns: spec.maxTurns,
    outputSchema: spec.outputSchema,
    think: options.think,
    parameters: options.parameters,
  }
}

const isAbsent = ({ toolAccess, disabledTools = [] }: LaunchSpec<OllamaOptions>, tool: string) =>
  toolAccess?.absent.includes(tool) === true ||
  disabledTools.some((name) => name.includes('*') && compileGlob(name).matches(tool))

function systemPrompt(spec: LaunchSpec<OllamaOptions>): string {
  const given = withSkills(withRepositoryInstructions(spec.systemPrompt, spec), spec.skills)
  const form = spec.outputSchema
    ? `When you are done, answer with nothing but JSON of this schema:\n${JSON.stringify(spec.outputSchema)}`
    : undefined
  return [
    `You work on a computer for somebody who is not watching. Your workspace is the folder ${spec.workspace}; paths are relative to it. Use the tools you are given to look and to act, do not guess what you can look up, and check what you have done. When a tool fails, read what it says and try another way. When you are done, say in a few words what you did and what you found.`,
    given,
    form,
  ]
    .filter((part) => part !== undefined)
    .join('\n\n')
}
