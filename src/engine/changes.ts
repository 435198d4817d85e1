import { messageOf } from '../domain/error.ts'
import type { Sandbox, Walls } from '../sandbox.ts'
import type { Voice } from './run.ts'
import { type PreparedWorkspace, repositoryState, summarise } from './workspace.ts'

/** Tells what a run changed in its workspace, and brings it back where the run worked on a copy. */
export interface ChangeReport {
  finish(): Promise<void>
}

type QuietWalls = Omit<Walls, 'door'>

/** Looks at the repository as it is now, while the agent starts; git runs inside the same walls, because the tree may be hostile. */
export function watchChanges(
  workspace: PreparedWorkspace,
  context: { sandbox: Sandbox; walls: QuietWalls; path: string; voice: Voice },
): ChangeReport {
  const { sandbox, walls, path, voice } = context
  const look = () => repositoryState(workspace.source, (args) => runGit(sandbox, walls, path, args))
  const before = look().catch(() => undefined)
  return {
    async finish() {
      // A failure here is told, and never changes the outcome.
      try {
        const first = await before
        const changed = first && summarise(first, await look())
        if (changed) await voice.recordEvent({ type: 'workspace.changed', data: changed })
        const back = await workspace.finish()
        if (back && back.conflicts.length > 0)
          await voice.note(
            'workspace_conflict',
            `Changed on both sides and left in ${workspace.source}: ${back.conflicts.slice(0, 20).join(', ')}`,
          )
        if (back && back.refused.length > 0)
          await voice.note('workspace_refused', `Not regular files, left behind: ${back.refused.slice(0, 20).join(', ')}`)
      } catch (error) {
        await voice.note('workspace_error', `What the agent changed is still in ${workspace.source}: ${messageOf(error)}`)
      }
    },
  }
}

async function runGit(sandbox: Sandbox, walls: QuietWalls, path: string, args: readonly string[]): Promise<string | undefined> {
  const env = { PATH: path, GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null', GIT_TERMINAL_PROMPT: '0' }
  const safe = ['-c', 'safe.directory=*', '-c', 'core.hooksPath=/dev/null', '-c', 'core.fsmonitor=false']
  const { child } = await sandbox.launch({ file: 'git', args: [...safe, ...args], env }, { ...walls, door: false })
  child.stdin.end()
  child.stderr.resume()
  const timer = setTimeout(() => void child.stop({ graceMs: 0 }), 5_000)
  try {
    let text = ''
    for await (const chunk of child.stdout) if (text.length < 1_000_000) text += String(chunk)
    const exit = await child.exited
    return exit.code === 0 ? text : undefined
  } finally {
    clearTimeout(timer)
    await child.stop({ graceMs: 0 })
  }
}
