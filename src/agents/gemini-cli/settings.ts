import { posix } from 'node:path'
import { PawlError } from '../../domain/error.ts'
import type { Access, LaunchSpec } from '../port.ts'
import { doorServers, toolTimeoutMs } from '../shared/door-servers.ts'
import { withRepositoryInstructions } from '../shared/repository.ts'
import { withSkills } from '../shared/skills.ts'
import type { GeminiCliOptions } from './options.ts'
import { offeredTools, policy } from './rules.ts'
import { ourQuestion } from './tools.ts'

export const ownEndpoint = 'https://generativelanguage.googleapis.com'
export const settingsFile = '.gemini/settings.json'
export const instructionsFile = '.gemini/GEMINI.md'
export const policyFile = '.gemini/pawl-policy.toml'

type Spec = LaunchSpec<GeminiCliOptions>

/** Everything that the program reads from its home, written anew at every start: what an agent put there in an earlier run is gone. */
export function homeFiles(spec: Spec, slug: string): Record<string, string> {
  return {
    [settingsFile]: `${JSON.stringify(settings(spec), undefined, 2)}\n`,
    [instructionsFile]: instructions(spec),
    [policyFile]: policy(spec),
    // Else it names the folder of a conversation after the workspace, and finds it again only there.
    '.gemini/projects.json': JSON.stringify({ projects: { [spec.workspace]: slug } }),
    [`.gemini/tmp/${slug}/.project_root`]: spec.workspace,
    [`.gemini/history/${slug}/.project_root`]: spec.workspace,
  }
}

function settings(spec: Spec) {
  return {
    security: {
      auth: { selectedType: authType(spec.access, spec.baseUrl) },
      // An untrusted workspace is refused by one-shot calls. What a repository could bring is hidden by the walls, or the start is refused.
      folderTrust: { enabled: false },
    },
    general: {
      enableAutoUpdate: false,
      enableAutoUpdateNotification: false,
      // Retries are ours.
      maxAttempts: 1,
      retryFetchErrors: false,
      plan: { enabled: false },
      // It would remove conversations that we keep.
      sessionRetention: { enabled: false },
    },
    privacy: { usageStatisticsEnabled: false },
    telemetry: { enabled: false },
    hooksConfig: { enabled: false },
    // Those that it may have are named in the instructions.
    skills: { enabled: false },
    advanced: { ignoreLocalEnv: true, autoConfigureMemory: false },
    context: { loadMemoryFromIncludeDirectories: false },
    model: { maxSessionTurns: least(spec.options.maxTurns, spec.maxTurns) ?? -1 },
    policyPaths: [posix.join(spec.home, policyFile)],
    tools: {
      core: offeredTools(spec),
      // With a terminal of its own the output of a command is a picture of it, which nobody is told.
      shell: { enableInteractiveShell: false },
      // It would fetch a program for it.
      useRipgrep: false,
    },
    // The program itself puts the variables in, so that the token stands in no file.
    mcpServers: Object.fromEntries(
      doorServers(spec).map(({ name, path }) => [
        name,
        {
          httpUrl: `${variable('PAWL_DOOR_URL')}${path}`,
          headers: {
            Authorization: `Bearer ${variable('PAWL_DOOR_TOKEN')}`,
            ...(name === 'pawl' ? { 'pawl-tool-name': ourQuestion } : {}),
          },
          trust: true,
          timeout: toolTimeoutMs,
        },
      ]),
    ),
  }
}

const variable = (name: string) => `$\{${name}}`

/** With the key that nobody has asked for it would not even start. */
export function authType(access: Access | undefined, baseUrl: string | undefined): 'gemini-api-key' | 'oauth-personal' {
  if (access?.kind === 'script')
    throw new PawlError('unsupported', 'Gemini CLI takes no key from a script; give the key in a variable or a file instead.')
  const usesLogin = access === undefined ? baseUrl === undefined : access.kind === 'login'
  return usesLogin ? 'oauth-personal' : 'gemini-api-key'
}

/** The repository's own GEMINI.md the program reads by itself, where the profile shows it. */
function instructions(spec: Spec): string {
  const all = withRepositoryInstructions(withSkills(spec.systemPrompt, spec.skills), spec) ?? ''
  // A word that begins with @ would be replaced by the file of that name.
  return all.replaceAll(/(?<=^|\s)@(?=[./A-Za-z])/g, '\\@')
}

const least = (...limits: (number | undefined)[]) => {
  const set = limits.filter((limit) => limit !== undefined)
  return set.length > 0 ? Math.min(...set) : undefined
}
