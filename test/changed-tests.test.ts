import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { affectedBy, changedSince } from '../scripts/changed-tests.ts'

test('a change of the product also selects the tests that start it as a program or open it in a browser', () => {
  expect(affectedBy(['src/engine/run/run.ts'])).toEqual([
    'src/engine/run/run.ts',
    'test/bundle.ts',
    'test/architecture.test.ts',
    'test/page/stage.ts',
  ])
})

test('a change of a unit test selects that test alone', () => {
  expect(affectedBy(['src/engine/run.test.ts'])).toEqual(['src/engine/run.test.ts'])
})

test('a change of a page of the docs selects the tests that read the docs', () => {
  expect(affectedBy(['docs/tasks.md'])).toContain('test/docs.test.ts')
})

test('a change of the dependencies selects everything', () => {
  expect(affectedBy(['src/engine/run/run.ts', 'package-lock.json'])).toBe('everything')
})

test('finds what is committed since, what is not committed and what is new', () => {
  const root = mkdtempSync(join(tmpdir(), 'pawl-changed-'))
  onTestFinished(() => rmSync(root, { recursive: true }))
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.com', ...args], { cwd: root })
  git('init', '-q')
  for (const name of ['same.ts', 'later.ts', 'removed.ts']) writeFileSync(join(root, name), '1')
  git('add', '.')
  git('commit', '-qm', 'first')
  writeFileSync(join(root, 'committed.ts'), '1')
  git('add', '.')
  git('rm', '-q', 'removed.ts')
  git('commit', '-qm', 'second')
  writeFileSync(join(root, 'later.ts'), '2')
  writeFileSync(join(root, 'with space.ts'), '1')
  expect(changedSince('HEAD~1', root).toSorted()).toEqual(['committed.ts', 'later.ts', 'removed.ts', 'with space.ts'])
})
