import { productOf, type Sources } from './imports.ts'

/** The forms in which "is this path inside that folder" is written by hand. Each is wrong somewhere: at the root, at `/ab` beside `/a`, at `..`, or at a name like `..a`. */
const forms = [
  /\.startsWith\(\s*`\$\{[^`]*\}\/`\s*[,)]/,
  /\.startsWith\(\s*`[^`]*\$\{(?:path\.)?sep\}`\s*[,)]/,
  /\.startsWith\([^()]*\+\s*(?:['"`]\/['"`]|(?:path\.)?sep\b)/,
  /\.startsWith\([^()]*\b(?:path\.)?sep\b/,
  /\.endsWith\(\s*(?:['"]\/['"]|(?:path\.)?sep)\s*\)\s*\?/,
  /\.startsWith\(\s*['"`]\.\.(?:\/)?['"`]\s*[,)]/,
  /\brelative\([^)]*\)[^\n]*['"]\.\.['"]/,
  /\.indexOf\([^)]*\)\s*===?\s*0\b/,
]

/** Says in which file and line a path is held against a folder by hand. */
export const handMadeInsideTests = (sources: Sources): string[] =>
  [...productOf(sources)].flatMap(([file, text]) =>
    text
      .split('\n')
      .flatMap((line, index) =>
        forms.some((form) => form.test(line)) ? [`${file}:${index + 1} ${line.trim().slice(0, 120)}`] : [],
      ),
  )
