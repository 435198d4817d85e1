import { expect, test } from 'vitest'
import { withoutShell } from './shell-line.ts'

test.each([
  ["/bin/bash -lc 'git push origin main'", 'git push origin main'],
  ['/bin/bash -lc ls', 'ls'],
  [`/usr/bin/zsh -lc "echo 'it is' \\"\\$HOME\\" \\\\ x"`, `echo 'it is' "$HOME" \\ x`],
  [`bash -c 'echo '"'"'a b'"'"''`, "echo 'a b'"],
  ["sh -c 'a\nb'", 'a\nb'],
  // Not what the program wraps: left as it is, for the rules to take apart.
  ['bash script.sh', 'bash script.sh'],
  ["bash -lc 'x' y", "bash -lc 'x' y"],
  ["bash -lc 'x", "bash -lc 'x"],
  ["env -lc 'x'", "env -lc 'x'"],
  ['', ''],
])('%j is about %j', (line, inside) => {
  expect(withoutShell(line)).toBe(inside)
})

test('what is no text stays what it is', () => {
  expect(withoutShell(undefined)).toBeUndefined()
  expect(withoutShell(['bash', '-lc', 'x'])).toEqual(['bash', '-lc', 'x'])
})
