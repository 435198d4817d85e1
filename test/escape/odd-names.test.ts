import { lchownSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { inPlace } from '../../src/domain/base/path.ts'
import { user, type WalledPlace, walledPlace } from './walled-door.ts'

let place: WalledPlace
beforeEach(() => {
  place = walledPlace()
})
afterEach(() => place.remove())

const names = [
  'we ird',
  'a\n--bind\n',
  `'"$(id)\`id\``,
  '{{PAWL_DOOR_URL}}',
  '-x',
  '--',
  'a:b',
  'é€😀',
  '*',
  '\\',
  'a=b',
  '%s',
  ' ',
]

it.each(names)('a workspace called %j is a workspace like any other', async (name) => {
  const workspace = join(place.base, name)
  mkdirSync(workspace)
  if (user) lchownSync(workspace, user.uid, user.gid)
  const walls = { workspace: inPlace(workspace) }
  const program =
    'require("fs").writeFileSync("made", "x"); console.log(JSON.stringify([process.cwd(), require("fs").readdirSync(".."), require("fs").readdirSync(".")]))'
  const { out } = await place.run({ file: process.execPath, args: ['-e', program], walls })
  // Nothing of what lies beside it is there, but the session's own home.
  expect(JSON.parse(out)).toEqual([workspace, ['home', name].toSorted(), ['made']])
})

it('variables that steer a shell, Node or the loader reach the agent, and none of our own programs before it', async () => {
  const hijack = join(place.workspace, 'hijack')
  writeFileSync(`${hijack}.sh`, 'echo hijacked\n')
  writeFileSync(`${hijack}.cjs`, 'require("fs").writeSync(2, "hijacked")')
  const env = {
    ENV: `${hijack}.sh`,
    BASH_ENV: `${hijack}.sh`,
    NODE_OPTIONS: `--require ${hijack}.cjs`,
    PS4: '$(echo hijacked)',
    SHELLOPTS: 'xtrace',
  }
  const { out, err } = await place.run({ file: '/bin/sh', args: ['-c', 'echo "$NODE_OPTIONS"'], env })
  expect([out, err]).toEqual([`${env.NODE_OPTIONS}\n`, ''])
})
