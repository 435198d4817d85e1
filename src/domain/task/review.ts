// Without the schema library on purpose: the CLI imports this file, and its start-up pays for every import.

export const maxCommentChars = 65_536
