import { expect, test } from 'vitest'
import { acp } from './agent.ts'

const path = process.env.PATH ?? ''
const spec = { prompt: '', workspace: '/w', home: '/h', extraArgs: [] }

test('a program that has an attendant is shown inside the walls as well, by the file that was found', async () => {
  const options = acp.options.parse({ command: 'node', serve: ['files'] })
  const { program } = await acp.probe(options, { path })
  expect(program).toMatch(/^\/.*node/)
  const { args, programs } = acp.command({ ...spec, options, program })
  expect(programs).toEqual([program])
  expect(args.at(-1)).toBe(program)
})

test('a program without one is started by its own name', async () => {
  const options = acp.options.parse({ command: ['node', '--acp'] })
  expect((await acp.probe(options, { path })).program).toBeUndefined()
  expect(acp.command({ ...spec, options })).toEqual({ file: 'node', args: ['--acp'], env: {} })
})

test.each([
  [{ sessionFiles: ['.agent\n/../../{session}'] }, 'sessionFiles.0'],
  [{ sessionFiles: ['.agent//{session}'] }, 'sessionFiles.0'],
  [{ keys: ['PAWL_MASTER_KEY'] }, 'keys.0'],
])('the options %j are refused at %s', (options, where) => {
  const refused = acp.options.safeParse({ command: 'agent', ...options })
  expect(refused.error?.issues.map((issue) => issue.path.join('.'))).toEqual([where])
})
