/**
 * One whole attack on the walls, as the user who runs this process: builds the world, tries everything inside the walls and again without
 * them, and prints what came of it as JSON.
 */
import { spawn } from 'node:child_process'
import { copyFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as wait } from 'node:timers/promises'
import { createBubblewrap } from '../../src/sandbox/bubblewrap/sandbox.ts'
import type { Walls } from '../../src/sandbox/port.ts'
import { agentUser } from '../../src/sandbox/process/agent-user.ts'
import { exhaust, hang, survive, surviveFreely } from './lasting.ts'
import { createWorld, type World } from './world.ts'

export interface Attempt {
  readonly row: number
  readonly open: boolean
  readonly what: string
  readonly detail: string
}

export interface Siege {
  readonly walled: readonly Attempt[]
  /** The same without walls, by the same user; shows that the attempts can succeed. */
  readonly free: readonly Attempt[]
  /** The same by root without walls, as far as it is safe. */
  readonly freeAsRoot: readonly Attempt[]
}

const [answer = '/dev/stdout', inherited] = process.argv.slice(2)
const program = join(import.meta.dirname, 'attacks/corpus.pl')
/** These only look when they succeed, or mount: for that they get a mount namespace of their own. */
const safeForRoot = '1,12,13,14,16,22,32'

async function besiege(): Promise<Siege> {
  const sandbox = createBubblewrap()
  const isRoot = process.getuid?.() === 0
  const user = isRoot ? agentUser : undefined
  const world = await createWorld(sandbox, user)
  process.env.PAWL_ESCAPE_CANARY = world.canary
  if (inherited) writeFileSync(inherited, world.canary)
  try {
    const walled = await seenFromOutside(world, await insideWalls(world))
    const free = await seenFromOutside(world, await freely(world, user))
    return {
      walled,
      free,
      freeAsRoot: isRoot
        ? parse(await plainly('unshare', ['--mount', 'perl', program, ...control(world, safeForRoot)], undefined))
        : [],
    }
  } finally {
    await world.close()
  }

  async function insideWalls(world: World): Promise<Attempt[]> {
    const local = join(world.workspace, 'corpus.pl')
    copyFileSync(program, local)
    const launch = async (file: string, args: readonly string[], changes: Partial<Walls> = {}) => {
      const { child } = await sandbox.launch({ file, args, env: {} }, { ...world.walls, ...changes })
      child.stdin.end()
      child.stderr.resume()
      // Not until it ends: an attack may stop the walls' own first process.
      const late = setTimeout(() => void child.stop({ graceMs: 0 }), 15_000)
      let out = ''
      for await (const chunk of child.stdout) {
        out += String(chunk)
        if (out.endsWith('end\n')) break
      }
      clearTimeout(late)
      await child.stop({ graceMs: 0 })
      return out
    }
    const corpus = await launch('perl', [local, ...world.arguments])
    if (!corpus.endsWith('end\n')) throw new Error(`The attacks did not come to their end: ${corpus.slice(-300)}`)
    // As our door is open, too: there our own program runs first inside.
    const withDoor = await launch('perl', [local, ...world.arguments, 'only=2,9,10,11,17,18,27,34,37,49'], { door: true })
    const listing = ['-c', 'ls -l /proc/$$/fd']
    let descriptors = `${await launch('sh', listing)}${await launch('sh', listing, { door: true })}`
    // And through a door that stood open before: there the network is one that somebody else has made.
    const attacks = [local, ...world.arguments, 'only=2,9,10,11,12,13,14,16,17,18,22,27,32,34,37,49']
    await sandbox.ahead?.start()
    const withDoorAhead = await launch('perl', attacks, { door: true })
    await sandbox.ahead?.start()
    descriptors += await launch('sh', listing, { door: true })
    sandbox.ahead?.stop()
    return [
      ...parse(corpus),
      ...parse(withDoor).map((attempt) => ({ ...attempt, what: `${attempt.what}, with a door` })),
      ...parse(withDoorAhead).map((attempt) => ({ ...attempt, what: `${attempt.what}, with a door opened ahead` })),
      {
        row: 37,
        open: / ([3-9]|\d\d+) -> /.test(descriptors),
        what: 'descriptors beyond three',
        detail: descriptors.trim().replaceAll('\n', ', '),
      },
      ...(await exhaust((script, changes) => launch('sh', ['-c', script], changes), world)),
      ...(await survive(sandbox, world)),
      ...(await hang(sandbox, world)),
    ]
  }

  async function freely(world: World, user: { uid: number; gid: number } | undefined): Promise<Attempt[]> {
    const found = parse(await plainly('perl', [program, ...control(world)], user))
    const exhausting = await exhaust((script) => plainly('sh', ['-c', script], user, world.workspace), world)
    return [...found, ...exhausting, ...(await surviveFreely(world))]
  }
}

const control = (world: World, only = '') => [...world.arguments, 'control=1', `only=${only}`]

/** As any child of ours would run: with our environment and our descriptors. */
async function plainly(
  file: string,
  args: readonly string[],
  user: { uid: number; gid: number } | undefined,
  cwd = '/',
): Promise<string> {
  const child = spawn(file, args, { cwd, stdio: ['ignore', 'pipe', 'ignore'], ...(user ?? {}) })
  return text(child.stdout)
}

function parse(out: string): Attempt[] {
  return out
    .split('\n')
    .map((line) => line.split('\t'))
    .filter(([, verdict]) => verdict === 'open' || verdict === 'blocked')
    .map(([row, verdict, what = '', detail = '']) => ({ row: Number(row), open: verdict === 'open', what, detail }))
}

/** What the attacker cannot tell, or is wrong about: what it wrote may lie in a place of its own. */
async function seenFromOutside(world: World, told: readonly Attempt[]): Promise<Attempt[]> {
  const attempts = told.map((attempt) => {
    const path = /^wrote (.*)$/.exec(attempt.detail)?.[1]
    if (!attempt.open || attempt.row === 4 || path === undefined) return attempt
    const isThere = existsSync(path) && readFileSync(path, 'latin1') === 'made'
    if (isThere) rmSync(path)
    return { ...attempt, open: isThere }
  })
  // What was sent may still be on its way; nothing tells that nothing was.
  await wait(50)
  const { signals, queries } = world.heard()
  return [
    ...attempts,
    {
      row: 5,
      open: ['through', 'through2'].some((name) => gone(join(world.elsewhere, name))),
      what: 'seen from outside',
      detail: '',
    },
    { row: 19, open: signals > 0, what: 'seen from outside: a signal arrived', detail: String(signals) },
    { row: 26, open: queries > 0, what: 'seen from outside: a query arrived', detail: String(queries) },
  ]
}

function gone(path: string): boolean {
  const was = existsSync(path)
  rmSync(path, { force: true })
  return was
}

// Into a file: the output of this process is a terminal, so that there is one to attack.
writeFileSync(answer, JSON.stringify(await besiege()))
