import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { SecretView } from '../../src/domain/auth/secret.ts'
import { json, pawl, serve } from '../e2e/pawl.ts'
import { makeHome } from '../engine/ready-database.ts'

let home: Awaited<ReturnType<typeof makeHome>>
beforeAll(async () => {
  home = await makeHome()
})
afterAll(async () => {
  await pawl(home.path, ['stop'])
  await home.remove()
})
const secret = (args: string[], options?: { stdin: string }) => pawl(home.path, ['secret', ...args], options)
const names = async () =>
  json<{ items: SecretView[] }>(await secret(['ls', '--json'])).items.map(({ name, scope }) => `${scope} ${name}`)

describe('pawl secret', () => {
  it('takes a value from standard input, lists its name, and removes it when told twice', async () => {
    const value = 'canary-of-the-command-line'
    const set = await secret(['set', 'NPM_TOKEN'], { stdin: `${value}\n` })
    expect(set).toMatchObject({ code: 0, stdout: 'NPM_TOKEN  global\n' })
    const own = json<SecretView>(await secret(['set', 'NPM_TOKEN', '--agent', 'helper', '--json'], { stdin: value }))
    expect(own).toMatchObject({ name: 'NPM_TOKEN', scope: 'agent:helper' })
    const listed = await secret(['ls'])
    expect(listed.stdout).toMatch(/^NAME +SCOPE +UPDATED +BY\nNPM_TOKEN +agent:helper .*\nNPM_TOKEN +global .*\n$/)
    expect(await secret(['rm', 'NPM_TOKEN'])).toMatchObject({ code: 2, stderr: expect.stringContaining('--yes') })
    expect(await names()).toEqual(['agent:helper NPM_TOKEN', 'global NPM_TOKEN'])
    expect((await secret(['rm', 'NPM_TOKEN', '--yes'])).code).toBe(0)
    expect(await names()).toEqual(['agent:helper NPM_TOKEN'])
    expect(await secret(['rm', 'NPM_TOKEN', '--yes'])).toMatchObject({ stderr: expect.stringContaining('There is no secret') })
    for (const { stdout, stderr } of [set, listed]) expect(stdout + stderr).not.toContain(value)
  })

  it.each([
    ['beside the name', ['set', 'TOKEN', 'canary-in-argv']],
    ['behind the name', ['set', 'TOKEN=canary-in-argv']],
  ])('refuses a value %s, says how to pipe it, and does not repeat it', async (_, args) => {
    const ended = await secret(args, { stdin: 'x' })
    expect(ended).toMatchObject({ code: 2, stdout: '' })
    expect(ended.stderr).toContain('printf %s "$VALUE" | pawl secret set TOKEN')
    expect(ended.stderr).not.toContain('canary')
    expect(await names()).not.toContain('global TOKEN')
  })

  it.each([
    ['nothing', '', 'is empty'],
    ['a newline alone', '\n', 'cannot be empty'],
    ['bytes that are no text', Buffer.from([0x61, 0xff, 0xfe]), 'is no text'],
    ['too much', 'x'.repeat(65_537), '65537 bytes'],
  ])('refuses %s', async (_, stdin, sentence) => {
    const ended = await secret(['set', 'TOKEN'], { stdin: stdin as string })
    expect(ended).toMatchObject({ code: 2, stderr: expect.stringContaining(sentence) })
  })

  it('says that a short one cannot be hidden, and that one cannot be for two', async () => {
    expect((await secret(['set', 'PIN'], { stdin: '1234' })).stderr).toContain('fewer than 8 characters')
    expect((await secret(['set', 'PIN', '--agent', 'a', '--user', 'b'], { stdin: '1' })).stderr).toContain(
      'Either --agent or --user',
    )
    await secret(['rm', 'PIN', '--yes'])
  })

  it('does the same through a daemon, which goes on after the key was changed beside it', async () => {
    const daemon = await serve(home.path)
    expect((await secret(['set', 'LATER', '--user', 'ada'], { stdin: 'first\nsecond\n' })).code).toBe(0)
    const key = await readFile(join(home.path, 'secret.key'), 'utf8')
    const rekeyed = await secret(['rekey', '--json'])
    expect(json(rekeyed)).toEqual({ secrets: 2, fingerprint: expect.any(String) })
    expect(await readFile(join(home.path, 'secret.key'), 'utf8')).not.toBe(key)
    expect((await secret(['set', 'LATER'], { stdin: 'after the change' })).code).toBe(0)
    expect(await names()).toEqual(['global LATER', 'user:ada LATER', 'agent:helper NPM_TOKEN'])
    await pawl(home.path, ['stop'])
    await daemon.ended
  })
})
