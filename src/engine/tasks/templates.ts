import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { renderTemplate } from '../../domain/base/template.ts'
import type { TemplateView } from '../../domain/draft/draft.ts'
import { invalid, messageOf } from '../../domain/error.ts'
import { Name } from '../../domain/id.ts'
import type { Profile } from '../../domain/profile/profile.ts'
import type { TakenRun } from '../../store/runs.ts'

/** Templates are files of Pawl's home, where no agent writes: `prompts/ROLE.md` and `prompts/tasks/NAME.md`. Read anew for each use. */
const fileOf = (home: string, kind: 'role' | 'task', name: string) =>
  kind === 'role' ? join(home, 'prompts', `${name}.md`) : join(home, 'prompts', 'tasks', `${name}.md`)

async function readTemplate(home: string, kind: 'role' | 'task', name: string): Promise<{ text: string; called: string }> {
  const file = fileOf(home, kind, name)
  const called = kind === 'role' ? `The template of the role "${name}" (${file})` : `The template "${name}" (${file})`
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw invalid(
      error.code === 'ENOENT'
        ? `${called} does not exist; write it, or name another.`
        : `${called} cannot be read: ${messageOf(error)}.`,
    )
  })
  return { text, called }
}

const mostShown = 10_000

/** The templates that a prompt can be put into. */
export async function listTemplates(home: string): Promise<TemplateView[]> {
  const files = await readdir(join(home, 'prompts', 'tasks')).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  const names = files.flatMap((file) => (file.endsWith('.md') ? [file.slice(0, -'.md'.length)] : []))
  return Promise.all(
    names
      .filter((name) => Name.safeParse(name).success)
      .sort()
      .map(async (name) => {
        const { text } = await readTemplate(home, 'task', name)
        return { name, text: text.slice(0, mostShown), takesContext: /\{\{\s*context\s*\}\}/.test(text) }
      }),
  )
}

/** Refuses a role without a template, before anything is made. */
export async function assertRole(home: string, role: string): Promise<void> {
  await readTemplate(home, 'role', role)
}

/** What the agent should do, in the words of a template. */
export async function renderTask(
  home: string,
  name: string,
  { task, workspace, context }: { task: string; workspace: string; context: string | undefined },
): Promise<string> {
  if (task.trim() === '') throw invalid('The task is empty; say what the agent should do.')
  const { text, called } = await readTemplate(home, 'task', name)
  return renderTemplate(text, { task, workspace, context, hasContext: context !== undefined }, called)
}

/** The system prompt of a role, with what holds for this run. */
export async function renderRole(
  home: string,
  role: string,
  { run, task }: TakenRun,
  place: { profile: Profile; workspace: string; places: readonly string[]; walled: boolean },
): Promise<string> {
  const { text, called } = await readTemplate(home, 'role', role)
  const { profile, workspace, places, walled } = place
  const values = {
    role,
    agent: task.agent,
    model: task.agent_config.model,
    task: task.id,
    session: run.session_id,
    workspace,
    profile: profile.name,
    allow: profile.rules.allow,
    ask: profile.rules.ask,
    deny: profile.rules.deny,
    disabledTools: profile.tools.disabled,
    ownTools: profile.tools.native,
    walls: walled,
    network: profile.network.allow,
    mounts: places,
    contextDirs: task.spec.contextDirs,
    ssh: profile.ssh?.hosts.map(({ name }) => name),
  }
  return renderTemplate(text, values, called)
}
