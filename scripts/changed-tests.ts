/** Which tests a change can affect: what `npm test -- --changed [REF]` runs. */
import { execFileSync } from 'node:child_process'

/** Files whose change can affect every test. */
const everything = ['package.json', 'package-lock.json', 'vitest.config.ts', 'tsconfig.json', 'toolchain/package.json']

/**
 * What tests use without importing it, by the first folder of its path: `related` follows imports only.
 * `test/bundle.ts` builds the program that end-to-end tests start, `test/page/stage.ts` opens the web UI in a browser.
 */
const stands: readonly (readonly [folder: RegExp, files: readonly string[]])[] = [
  [/^(src|bin|scripts)\//, ['test/bundle.ts', 'test/architecture.test.ts']],
  [/^(src|web)\//, ['test/page/stage.ts']],
  [
    /^(docs\/|examples\/|README\.md|CHANGELOG\.md)/,
    ['test/docs.test.ts', 'test/adding-an-agent.test.ts', 'test/terminal/examples.ts'],
  ],
  [/^test\/.*\.test\.ts$/, ['test/requirements.test.ts']],
]

/** Answers the files to pass to `vitest related`, or 'everything'. */
export function affectedBy(changed: readonly string[]): readonly string[] | 'everything' {
  if (changed.some((file) => everything.includes(file))) return 'everything'
  // A unit test that changed says nothing about the product.
  const ofProduct = changed.filter((file) => !/^src\/.*\.test\.ts$/.test(file))
  const standing = stands.flatMap(([folder, files]) => (ofProduct.some((file) => folder.test(file)) ? files : []))
  return [...new Set([...changed.filter((file) => /\.[cm]?[jt]sx?$/.test(file)), ...standing])]
}

/** Lists the files that differ from a commit, committed or not, new ones included. */
export function changedSince(ref: string, root: string): string[] {
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: root, encoding: 'utf8' })
      .split('\0')
      .filter((name) => name !== '')
  return [
    ...git('diff', '--name-only', '-z', '--no-renames', ref, '--'),
    ...git('ls-files', '--others', '--exclude-standard', '-z'),
  ]
}
