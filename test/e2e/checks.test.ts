import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeHome } from '../engine/ready-database.ts'
import { json, pawl } from './pawl.ts'

/** Proof of done as a user sees it, without a daemon. */
describe('checks', () => {
  let home: Awaited<ReturnType<typeof makeHome>>
  let folder: string

  beforeAll(async () => {
    home = await makeHome()
    folder = join(home.path, 'project')
    await mkdir(folder)
    const settings = [
      'agents:',
      '  helper: { adapter: custom, command: [sh, -c, "echo made > made.txt; echo All done."] }',
      '  careful: { adapter: custom, command: [cat], checks: ["echo it is broken; false"] }',
    ]
    await writeFile(join(home.path, 'config.yaml'), `${settings.join('\n')}\n`)
  })
  afterAll(async () => {
    await pawl(home.path, ['stop'])
    await home.remove()
  })
  const run = (...args: string[]) => pawl(home.path, args, { cwd: folder })

  it('that pass make the task verified: run, ls, show and verify say so, and the proof holds without any database', async () => {
    const ended = await run('run', '--agent', 'helper', '--check', 'test -e made.txt', 'make it')
    expect(ended).toMatchObject({ code: 0, stdout: 'All done.\n' })
    expect(ended.stderr).toContain('check 1 passed')
    expect(ended.stderr).toContain('completed and verified')
    expect((await run('ls')).stdout).toContain('completed, verified')
    expect((await run('show', 'last')).stdout).toMatch(/result +succeeded, verified/)
    const verified = await run('verify', 'last')
    expect(verified.code).toBe(0)
    expect(verified.stdout).toContain('The workspace is still like that')

    const exported = await run('verify', 'last', '--json')
    expect(json(exported)).toMatchObject({ verified: true, proof: 'verified', items: [{ number: 1, exitCode: 0 }] })
    const file = join(folder, '../proof.json')
    await writeFile(file, exported.stdout)
    expect(await run('verify', '--from', file)).toMatchObject({ code: 0 })
    await writeFile(file, (await readFile(file, 'utf8')).replaceAll('test -e made.txt', 'test -e some.txt'))
    const forged = await run('verify', '--from', file)
    expect(forged).toMatchObject({ code: 5 })
    expect(forged.stdout).toContain('broken at number 1: it was changed')
    // The file may be anybody's: nothing in it steers the terminal.
    const steering = JSON.stringify('\u001b]0;title\u0007x')
    await writeFile(file, (await readFile(file, 'utf8')).replaceAll(/"(tree|hash)":"[^"]*"/g, `"$1":${steering}`))
    expect((await run('verify', '--from', file)).stdout).not.toContain('\u001b')

    await writeFile(join(folder, 'made.txt'), 'something else')
    expect(await run('verify', 'last')).toMatchObject({ code: 5, stdout: expect.stringContaining('has changed since') })
    expect(await run('verify', 'last', '--again')).toMatchObject({ code: 0 })
  }, 90_000)

  it('that fail end pawl run with 5 and name the check; without them the same work is only reported', async () => {
    const failed = await run('run', '--json', '--agent', 'careful', 'do it')
    expect(failed.code).toBe(5)
    expect(json(failed)).toMatchObject({
      task: {
        state: 'failed',
        reason: { kind: 'checks_failed', detail: 'The check "echo it is broken; false" (exit code 1) did not pass.' },
      },
      result: { verified: false },
    })
    expect(await run('verify', 'last')).toMatchObject({ code: 5, stdout: expect.stringContaining('did not pass') })
    const printed = { code: 0, stdout: 'it is broken\n' }
    expect([await run('verify', 'last', '--output'), await run('verify', 'last', '--output', '1')]).toMatchObject([
      printed,
      printed,
    ])
    expect(await run('verify', 'last', '--output', '2')).toMatchObject({ stderr: expect.stringContaining('no check number 2') })
    expect(await run('run', '--agent', 'careful', '--no-checks', 'do it')).toMatchObject({ code: 0 })
    expect(await run('verify', 'last', '--output')).toMatchObject({ stderr: expect.stringContaining('No check of task') })
    expect(await run('verify', 'last')).toMatchObject({
      code: 5,
      stdout: expect.stringContaining('No check of this task was run'),
    })
  }, 90_000)

  it('are refused in a sentence where they make no sense', async () => {
    expect(await run('run', '--check-attempts', '2', 'x')).toMatchObject({ code: 2 })
    expect(await run('verify')).toMatchObject({ code: 2 })
    expect(await run('verify', 'last', '--output', 'x')).toMatchObject({ code: 2 })
    expect(await run('verify', '--from', 'nowhere.json')).toMatchObject({ code: 2 })
  })
})
