import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { type MoveName, moves } from '../../src/domain/task/task.ts'
import { cells } from './cells.ts'
import { commandFailpoints, failpoints, gitFailpoints, remoteFailpoints, transactionOf } from './failpoints.ts'

const src = fileURLToPath(new URL('../../src', import.meta.url))
const sources = readdirSync(src, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && file !== 'base/failpoint.ts')
  .map((file) => ({ file, text: readFileSync(join(src, file), 'utf8') }))

function inSource(): string[] {
  const found = new Set<string>()
  for (const { text } of sources) {
    for (const match of text.matchAll(/\bfp\('([^']+)'\)/g)) found.add(match[1]!)
    for (const match of text.matchAll(/\btransact(?:AtOnce)?\('([^']+)'/g))
      for (const side of ['before', 'after']) found.add(`${match[1]}.${side}`)
  }
  return [...found].sort()
}

test('every failpoint of the source is in the list of crash tests, and none else', () => {
  expect([...Object.keys(failpoints), ...commandFailpoints, ...remoteFailpoints, ...gitFailpoints].sort()).toEqual(inSource())
})

test('every failpoint has a cell for daemon and database, and every one after a commit for both', () => {
  for (const name of Object.keys(failpoints)) {
    const victims = new Set(cells.filter((cell) => cell.point === name).map((cell) => cell.victim))
    expect([name, ...[...victims].sort()]).toEqual([name, ...(name.endsWith('.before') ? [] : ['both']), 'daemon', 'database'])
  }
})

test('every move the engine makes has a failpoint before and after its commit', () => {
  for (const [name, transaction] of Object.entries(transactionOf)) {
    if (typeof transaction !== 'string') continue
    expect(Object.keys(failpoints)).toEqual(expect.arrayContaining([`${transaction}.before`, `${transaction}.after`]))
    expect(moves).toHaveProperty(name)
  }
})

test('the moves said to be unused are those that no engine file names', () => {
  const engine = sources.filter(({ file }) => /^(engine|operations)\//.test(file)).map(({ text }) => text)
  const unnamed = (Object.keys(moves) as MoveName[]).filter((name) => !engine.some((text) => new RegExp(`'${name}'`).test(text)))
  const unused = Object.entries(transactionOf).filter(([, where]) => typeof where !== 'string')
  // The admission makes these moves for many tasks in one statement of the store, without naming them.
  expect(unnamed.filter((name) => name !== 'admit' && name !== 'put_off')).toEqual(unused.map(([name]) => name))
})
