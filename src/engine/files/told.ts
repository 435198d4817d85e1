import type { LaidAttachments } from './lay-attachments.ts'
import type { LaidPrompt } from './long-prompt.ts'

/** The message with what the agent is told of files: those that came with the task, and where to leave some if it is to know. */
export function withFiles(message: LaidPrompt, { told }: LaidAttachments, leaveAt: string | undefined): LaidPrompt {
  const leave =
    leaveAt === undefined
      ? undefined
      : `Files that people are to get from you, such as reports and pictures, go into the folder ${leaveAt}.`
  const said = [message.prompt, told, leave].filter((part) => part !== undefined)
  return said.length === 1 ? message : { ...message, prompt: said.join('\n\n') }
}
