/** The program wraps each command in a shell, `/bin/bash -lc 'git push'`. Rules, and the person who is asked, are about what stands inside. */
export function withoutShell(line: unknown): unknown {
  if (typeof line !== 'string') return line
  const words = wordsOf(line)
  const [shell, flag, script] = words ?? []
  const isWrapped = words?.length === 3 && /^(\/[\w/.-]*\/)?(ba|z|da)?sh$/.test(shell ?? '') && /^-l?c$/.test(flag ?? '')
  return isWrapped ? script : line
}

/** The words of a line in which nothing but quotes and backslashes means anything; undefined if it ends within quotes. */
function wordsOf(line: string): string[] | undefined {
  const words: string[] = []
  let rest = line
  while (rest !== '') {
    const space = /^\s+/.exec(rest)?.[0]
    if (space !== undefined) {
      rest = rest.slice(space.length)
      continue
    }
    let word = ''
    while (rest !== '' && !/^\s/.test(rest)) {
      const [whole, single, double, escaped, plain] = piece.exec(rest) ?? []
      if (whole === undefined) return undefined
      word += single ?? double?.replace(/\\([$`"\\\n])/g, '$1') ?? escaped ?? plain
      rest = rest.slice(whole.length)
    }
    words.push(word)
  }
  return words
}

const piece = /^(?:'([^']*)'|"((?:[^"\\]|\\[\s\S])*)"|\\([\s\S])|([^\s'"\\]+))/
