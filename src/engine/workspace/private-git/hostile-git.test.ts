import { execFileSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { markOf } from '../../../sandbox/port.ts'
import { git, guard, inside, put, repository } from '../testing.ts'

/** Came with a folder that somebody was sent, or was put there by an agent that works around it and is not done yet. */
describe('a git directory that somebody else made shows an agent nothing of the rest of the machine:', () => {
  let base: string
  let root: string
  const inGit = (path: string) => join(root, '.git', path)
  beforeEach(async () => {
    base = await mkdtemp(join(tmpdir(), 'pawl-hostile-git-'))
    root = join(base, 'ws')
    await repository(root, { 'a.txt': 'a\n' })
    await put(join(base, 'secret'), { main: 'canary', HEAD: 'canary', 'refs/heads/main': 'canary', 'objects/key': 'canary' })
  })
  afterEach(() => rm(base, { recursive: true, force: true }))
  const work = async (script: string) => {
    const guarded = await guard(join(base, 'home'), root)
    const worked = await inside(guarded, root, script)
    await guarded.settle()
    return worked.out
  }

  it.each(['logs', 'logs/refs', 'logs/refs/heads', 'logs/refs/heads/main', 'logs/HEAD'])('%s is a link', async (path) => {
    await rm(inGit(path), { recursive: true })
    await symlink(
      join(base, 'secret', path === 'logs/refs/heads/main' ? 'main' : path === 'logs/refs' ? 'refs' : ''),
      inGit(path),
    )
    expect(await work('cat .git/logs/HEAD .git/logs/refs/heads/main; git status --porcelain')).not.toContain('canary')
  })

  it('a log is a pipe that nobody writes to', async () => {
    await rm(inGit('logs/HEAD'))
    execFileSync('mkfifo', [inGit('logs/HEAD')])
    expect(await work('git log --format=%s')).toBe('first\n')
  })

  it('the folder of large files is a link, and not lent', async () => {
    await symlink(join(base, 'secret'), inGit('lfs'))
    expect(await work('cat .git/borrowed/lfs/main .git/borrowed/lfs/objects/key; git log --format=%s')).toContain('first\n')
    const guarded = await guard(join(base, 'home'), root)
    expect(guarded.masks.filter(({ path }) => path.endsWith('lfs'))).toEqual([])
    await guarded.settle()
  })

  it('the objects are lent as what they were when they were looked at', async () => {
    await mkdir(inGit('lfs/objects'), { recursive: true })
    const guarded = await guard(join(base, 'home'), root)
    const marks = guarded.masks.flatMap((mask) => ('mark' in mask ? [[mask.path.split('/').at(-1), mask.mark]] : []))
    expect(marks).toEqual([
      ['objects', markOf(statSync(inGit('objects')))],
      ['lfs', markOf(statSync(inGit('lfs')))],
    ])
    await guarded.settle()
  })
})

describe('a git directory that an agent filled stops nobody else', () => {
  let base: string
  let root: string
  beforeEach(async () => {
    base = await mkdtemp(join(tmpdir(), 'pawl-full-git-'))
    root = join(base, 'ws')
    await repository(root, { 'a.txt': 'a\n' })
  })
  afterEach(() => rm(base, { recursive: true, force: true }))
  /** Settles after the script, and answers what was said and how long nobody else had a turn. */
  const settledAfter = async (script: string) => {
    const guarded = await guard(join(base, 'home'), root)
    expect(await inside(guarded, root, script)).toMatchObject({ code: 0 })
    // What this thread itself worked without a break: on a busy machine the clock tells more of the others.
    const cpuMs = () => Object.values(process.threadCpuUsage()).reduce((all, one) => all + one, 0) / 1_000
    let [blockedMs, since, isOver] = [0, cpuMs(), false]
    const look = () => {
      blockedMs = Math.max(blockedMs, cpuMs() - since)
      since = cpuMs()
      if (!isOver) setImmediate(look)
    }
    setImmediate(look)
    const result = await guarded.settle()
    isOver = true
    return { sentence: result.sentence ?? '', blockedMs }
  }
  const python = (script: string) => `python3 - <<'END'\n${script}\nEND`

  it('with an index whose few bytes name gigabytes', async () => {
    const index = `
import struct, hashlib
count = 20000
parts = [struct.pack('>4sII', b'DIRC', 4, count)]
for n in range(count):
    parts.append(b'\\0' * 24 + struct.pack('>I', 0o100644) + b'\\0' * 12 + b'\\1' * 20 + struct.pack('>H', min(n + 1, 0xfff)) + b'\\0a\\0')
body = b''.join(parts)
open('.git/index', 'wb').write(body + hashlib.sha1(body).digest())`
    const { sentence, blockedMs } = await settledAfter(python(index))
    expect(sentence).toContain('cannot be read and was not brought back')
    expect(blockedMs).toBeLessThan(500)
  })

  it('with an index of 100,000 files', async () => {
    const files = 'id=$(git hash-object a.txt); seq 100000 | awk -v id=$id \'{ print "100644 " id "\\tsome/folder/" $1 }\''
    const { sentence, blockedMs } = await settledAfter(`${files} | git update-index --index-info`)
    expect(sentence).toBe('')
    expect(git(root, 'ls-files', 'some/folder/100000')).toBe('some/folder/100000\n')
    expect(blockedMs).toBeLessThan(800)
  })

  it('with references by the hundred thousand', async () => {
    const refs =
      'id=$(git rev-parse HEAD); seq 150000 | awk -v id=$id \'{ print id " refs/heads/many/" $1 }\' >> .git/packed-refs'
    const { sentence, blockedMs } = await settledAfter(`sed -i 's/sorted//' .git/packed-refs; ${refs}`)
    expect(sentence).toContain('150000 references are new or different')
    expect(git(root, 'branch', '--format=%(refname)')).toBe('refs/heads/main\n')
    expect(blockedMs).toBeLessThan(500)
  })

  it('with packed references or logs that are too large', async () => {
    const { sentence } = await settledAfter("head -c 20000000 /dev/zero | tr '\\0' '\\n' >> .git/packed-refs")
    expect(sentence).toContain('packed references take more than')
    const log = "printf '%040d %040d A <a> 1 +0000\\tx\\n' 0 0 | awk '{ for (n = 0; n < 150000; n++) print }'"
    const logs = await settledAfter(
      `mkdir -p .git/logs/refs/heads/l; for n in 1 2 3 4 5 6; do ${log} > .git/logs/refs/heads/l/$n; done`,
    )
    expect(logs.sentence).toContain('Not all logs of references')
    expect(logs.blockedMs).toBeLessThan(800)
  })
})
