import { expect, test } from 'vitest'
import { shellParts } from './shell.ts'

const commandsOf = (line: string) => shellParts(line).commands.map((command) => command.text)

test.for([
  ['git status', ['git status']],
  ['a && b || c; d | e & f', ['a', 'b', 'c', 'd', 'e', 'f']],
  ['a\nb\r\nc', ['a', 'b', 'c']],
  ['git commit -m "a && b"', ["git commit -m 'a && b'"]],
  ["git commit -m 'a; rm -rf /'", ["git commit -m 'a; rm -rf /'"]],
  ['echo $(rm x)', ['rm x', "echo '$(rm x)'"]],
  ['echo "`rm x` and $(rm y)"', ['rm x', 'rm y', "echo '`rm x` and $(rm y)'"]],
  ["echo '$(rm x)'", ["echo '$(rm x)'"]],
  [`echo \${A:-$(rm x)}`, ['rm x', `echo '\${A:-$(rm x)}'`]],
  ['diff <(a 1) <(b 2)', ['a 1', 'b 2', 'diff /dev/fd/63 /dev/fd/63']],
  ['(cd x && make)', ['cd x', 'make']],
  ['if a; then b; else c; fi', ['a', 'b', 'c']],
  ['for f in $(ls); do rm $f; done', ['ls', 'rm $f']],
  ['A=1 B=2 git push', ['A=1 B=2 git push']],
  ['a \\\n  b', ['a b']],
  ['echo a # && rm x', ['echo a']],
  ["echo a # it's\nrm x", ['echo a', 'rm x']],
  ["echo $'\\'' && rm x #'", ["echo '''", 'rm x']],
  ['echo a\\ b', ["echo 'a b'"]],
  ["cat <<EOF\nit's $(rm x)\nEOF\nls", ['cat', 'rm x', 'ls']],
  ["cat <<'EOF'\nit's $(rm x)\nEOF\nls", ['cat', 'ls']],
  ['cat <<-EOF\n\ta\n\tEOF\nls', ['cat', 'ls']],
  ['f() { rm x; }; f', ['f', 'rm x', 'f']],
  ['', []],
] as [string, string[]][])('%j runs what a shell would run', ([line, commands]) => {
  expect(commandsOf(line)).toEqual(commands)
  expect(shellParts(line).isBroken).toBe(false)
})

test('files that the shell reads and writes are told, descriptors and /dev/null are not', () => {
  const { reads, writes, commands } = shellParts('a <in >out 2>>err 2>&1 >/dev/null; b &>both; c > "a b"; d >| x <<< text')
  expect({ reads, writes, commands: commands.map((command) => command.text) }).toEqual({
    reads: ['in'],
    writes: ['out', 'err', 'both', 'a b', 'x'],
    commands: ['a', 'b', 'c', 'd'],
  })
})

test('a command is also known without its variables, its folder, and what runs it', () => {
  const alsoOf = (line: string) => shellParts(line).commands[0]?.also
  expect(alsoOf('A=1 git push')).toEqual(['git push'])
  expect(alsoOf('/usr/bin/git push')).toEqual(['git push'])
  expect(alsoOf('sudo -n env A=1 git push')).toEqual(['env A=1 git push', 'git push'])
  expect(alsoOf(`bash -lc 'cd x && git push'`)).toEqual(['cd x', 'git push'])
  expect(alsoOf('timeout 5 xargs git push')).toEqual(['xargs git push', 'git push'])
  expect(alsoOf('eval "git push"')).toContain('git push')
})

test.for(["echo 'a", 'echo "a', 'echo $(a', 'echo `a', 'cat <<EOF\na', 'a >', "echo $'a"])(
  '%j does not end as it must',
  (line) => {
    expect(shellParts(line).isBroken).toBe(true)
  },
)

test('what nests without end, and long lines of any kind, are read in a moment', () => {
  for (const line of [
    '$('.repeat(30_000),
    '`'.repeat(60_000),
    'env '.repeat(16_000),
    '((('.repeat(20_000),
    'a;'.repeat(30_000),
    '<<a '.repeat(15_000),
  ])
    expect(() => shellParts(line)).not.toThrow()
  expect(shellParts('$('.repeat(30_000)).isBroken).toBe(true)
})
