import type { ArchiveLimits } from './archive.ts'

export const tooLarge = (paths: readonly string[], limits: ArchiveLimits) => ({
  code: 'archive_full',
  detail: `The conversation's files are more than ${Math.round(limits.bytes / 1024 / 1024)} MiB; not archived: ${paths.slice(0, 3).join(', ')}${paths.length > 3 ? ` and ${paths.length - 3} more` : ''}. If they are lost, the conversation is rebuilt from the journal.`,
})
