/**
 * Which flags an argument sets, for programs that read their command line as yargs does: `--no-x` and `--xY` are ways to write `--x` and `--x-y`, and in `-abc` each letter
 * may be one. What is no flag sets none.
 */
export function flagNames(argument: string): readonly string[] {
  const [name = ''] = argument.split('=')
  if (name === '-' || !name.startsWith('-')) return []
  if (!name.startsWith('--')) return [...name.slice(1)].map((letter) => `-${letter}`)
  const plain = name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
  return [plain, plain.replace(/^--no-/, '--')]
}

/** The first argument that sets one of the flags. */
export const takenFlag = (extra: readonly string[], taken: ReadonlySet<string>): string | undefined =>
  extra.find((argument) => flagNames(argument).some((name) => taken.has(name)))?.split('=')[0]
