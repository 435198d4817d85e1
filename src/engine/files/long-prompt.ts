import { posix } from 'node:path'
import type { Adapter } from '../../agents/port.ts'
import { inPlace } from '../../domain/base/path.ts'
import type { Profile } from '../../domain/profile/profile.ts'
import { maxInlineBytes } from '../../domain/task/task.ts'
import { writeHomeFile } from '../../sandbox/files/home-files.ts'
import type { Walls } from '../../sandbox/port.ts'
import type { AgentUser } from '../../sandbox/process/agent-user.ts'
import type { TaskRow } from '../../store/tables.ts'

/** What a program is told of a task: the prompt itself, or where it lies. */
export interface LaidPrompt {
  readonly prompt: string
  /** The folder of the file, if there is one. */
  readonly folder?: string | undefined
  readonly mounts: NonNullable<Walls['mounts']>
}

const folderName = '.pawl-prompts'
/** So much of it is said in any case. */
const shownChars = 4_000

/**
 * Puts a prompt that is too long for one message into a file of the session home: never into the workspace, which is somebody's repository. Its name is the task's, so
 * a conversation that goes on finds it where it was told. A plain command is given everything as it is: it may have nothing that could read files.
 */
export async function layPrompt(
  { id, prompt }: Pick<TaskRow, 'id' | 'prompt'>,
  { adapter, profile, home, user }: { adapter: Adapter; profile: Profile; home: string; user: AgentUser | undefined },
): Promise<LaidPrompt> {
  const bytes = Buffer.byteLength(prompt)
  if (bytes <= maxInlineBytes || !adapter.can.mcp || adapter.isElsewhere) return { prompt, mounts: [] }
  const path = posix.join(folderName, `${id}.md`)
  await writeHomeFile({ home, path }, prompt, { user })
  const folder = posix.join(home, folderName)
  return {
    prompt: [
      prompt.slice(0, shownChars).toWellFormed(),
      '[cut here]',
      `This message has ${bytes} bytes and was cut. All of it is in the file ${posix.join(home, path)}: read that file from its beginning to its end, part by part, before you do anything else.`,
    ].join('\n\n'),
    folder,
    // Our own tools see the workspace and what is mounted, the session home not.
    mounts: profile.tools.native ? [] : [{ ...inPlace(folder), mode: 'ro' }],
  }
}
