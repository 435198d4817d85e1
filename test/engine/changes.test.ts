import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, symlinkSync } from 'node:fs'
import { chmod, mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Daemon } from '../../src/daemon/daemon.ts'
import type { ChangedFile } from '../../src/domain/view/changes.ts'
import type { NewTask } from '../../src/domain/view/view.ts'
import { git, put, repository } from '../../src/engine/workspace/testing.ts'
import { commandAgent, eventsUntil, isResting, makeHome, startEngine, until } from './home.ts'

let home: Awaited<ReturnType<typeof makeHome>>
let daemon: Daemon
beforeAll(async () => {
  home = await makeHome()
  daemon = await startEngine(home.path)
})
afterAll(async () => {
  await daemon.stop()
  await home.remove()
})

const place = (name: string) => join(home.path, name)
/** So that whoever the agent is may work there directly. */
const open = (root: string) => execFileSync('chmod', ['-R', 'a+rwX', root])
const create = async (workspace: string | undefined, script: string, more: Partial<NewTask> = {}) =>
  (
    await daemon.runtime.createTask(
      { prompt: 'x', workspace, agentConfig: commandAgent(['/bin/sh', '-c', script]), ...more },
      { by: 'test' },
    )
  ).task.id

async function work(workspace: string | undefined, script: string, more: Partial<NewTask> = {}) {
  const id = await create(workspace, script, more)
  const events = await eventsUntil(daemon, id, isResting)
  const changes = await daemon.runtime.listChanges(id)
  return { id, events, changes, diff: await daemon.runtime.readDiff(id, {}) }
}
const told = ({ files }: { files: readonly ChangedFile[] }) =>
  files.map(({ status, path, added, removed }) => `${status} ${path} +${added ?? '?'} -${removed ?? '?'}`)

describe('what a run changed', () => {
  it.each(['direct', 'copy', 'clone'] as const)('is known in a repository in the mode %s, commits and all', async (mode) => {
    const root = place(`repository-${mode}`)
    await repository(root, {
      'a.txt': 'one\ntwo\n',
      'gone.txt': 'x\n',
      'old name.txt': 'a text that is long enough\nto be known again\n',
      '.gitignore': 'ignored\n',
    })
    if (mode !== 'clone') await put(root, { 'dirty.txt': 'mine\n', 'a.txt': 'one\ntwo\nmine\n' })
    open(root)
    const [index, head] = [readFileSync(join(root, '.git/index')), git(root, 'rev-parse', 'HEAD')]
    const steps = [
      'echo three >> a.txt',
      'rm gone.txt',
      "mv 'old name.txt' new.txt",
      'echo n > ignored',
      "mkdir d; printf 'a\\0b' > d/blob",
    ]
    const { changes, diff, events } = await work(root, steps.join(';'), { workspaceMode: mode })
    expect(told(changes)).toEqual([
      'modified a.txt +1 -0',
      'added d/blob +? -?',
      'deleted gone.txt +0 -1',
      'renamed new.txt +0 -0',
    ])
    expect(changes.runs).toMatchObject([{ number: 1, state: 'files', why: null, fileCount: 4, added: 1, removed: 1 }])
    expect(events.find(({ type }) => type === 'workspace.changed')?.data).toEqual({
      summary: '1 changed, 1 new, 1 renamed, 1 removed (+1 -1)',
      files: 4,
    })
    expect(diff).toContain('\n+three\n')
    expect(diff).toContain('Binary files /dev/null and b/d/blob differ')
    expect(diff).not.toContain('+mine')
    // Nothing of the user's own is touched, and nothing of ours is left.
    if (mode === 'direct') {
      expect(readFileSync(join(root, '.git/index'))).toEqual(index)
      expect(git(root, 'rev-parse', 'HEAD')).toBe(head)
    }
    await until(async () => (await readdir(place('changes'))).every((name) => name.startsWith('kept-')))
  })

  it('is nothing where a run left in an empty folder only what does not count', async () => {
    const root = place('uncounted')
    await mkdir(root)
    open(root)
    const { changes } = await work(root, 'mkdir node_modules; echo 1 > node_modules/a')
    expect(changes.runs).toMatchObject([{ number: 1, state: 'nothing', why: null, fileCount: 0 }])
  })

  it('counts what was committed, and what was changed back counts for nothing', async () => {
    const root = place('committed')
    await repository(root, { 'a.txt': '1\n', 'b.txt': '1\n' })
    open(root)
    const script = 'echo 2 > a.txt; git commit -qam work; echo 2 > b.txt; echo 1 > b.txt'
    expect(told((await work(root, script)).changes)).toEqual(['modified a.txt +1 -1'])
  })

  it('is known in a folder without a repository, and in one of the task’s own', async () => {
    const root = place('plain')
    await put(root, { 'a.txt': 'one\n', 'sub/b.txt': 'b\n', 'node_modules/x/index.js': 'x' })
    open(root)
    const script = 'echo two >> a.txt; echo n > sub/c.txt; rm sub/b.txt; echo changed > node_modules/x/index.js'
    const { changes, diff } = await work(root, script)
    expect(told(changes)).toEqual(['modified a.txt +1 -0', 'deleted sub/b.txt +0 -1', 'added sub/c.txt +1 -0'])
    expect(diff).toContain('--- a/sub/b.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-b\n')
    expect(told((await work(undefined, 'echo hello > new.txt')).changes)).toEqual(['added new.txt +1 -0'])
    // Nothing was written there for it.
    expect((await readdir(root)).toSorted()).toEqual(['a.txt', 'node_modules', 'sub'])
  })

  it('is nothing, and not stored, where nothing was changed', async () => {
    const root = place('nothing')
    await repository(root, { 'a.txt': 'a' })
    open(root)
    const { changes, diff, events } = await work(root, 'cat a.txt; touch a.txt')
    expect(changes).toMatchObject({ files: [], fileCount: 0, runs: [{ state: 'nothing', why: null }] })
    expect(diff).toBe('')
    expect(events.some(({ type }) => type === 'workspace.changed')).toBe(false)
  })

  it('is known to the next run by a glance where nobody has touched anything since, and never taken for what was done in between', async () => {
    const root = place('seen-again')
    await repository(root, { 'a.txt': 'one\n', '.gitignore': 'ignored\n' })
    open(root)
    const kept = async () => (await readdir(place('changes'))).filter((name) => name.startsWith('kept-'))
    const steps = [
      ['cat a.txt', []],
      ['echo two >> a.txt; sleep 0.1', ['modified a.txt +1 -0']],
      ['sleep 0.1', []],
      [
        'echo three >> a.txt; git add a.txt; git -c user.name=n -c user.email=e commit -qm x; sleep 0.1',
        ['modified a.txt +1 -0'],
      ],
      ['rm a.txt; echo n > b.txt', ['deleted a.txt +0 -3', 'added b.txt +1 -0']],
    ] as const
    for (const [script, files] of steps) {
      expect(told((await work(root, script)).changes)).toEqual(files)
      // Somebody else works there too.
      await put(root, { 'mine.txt': `${script}\n`, ignored: script })
      open(root)
    }
    // It is put away a moment after the task is told to have ended.
    const newest = async (known: readonly string[]) => {
      let found: string | undefined
      await until(async () => {
        found = (await kept()).find((name) => !known.includes(name))
        return found !== undefined
      })
      return found!
    }
    await until(async () => (await readdir(place('changes'))).every((name) => name.startsWith('kept-')))
    const before = await kept()
    expect(told((await work(root, 'echo; sleep 0.1')).changes)).toEqual([])
    const again = await newest(before)
    // The next one has it from there: git is not asked for another one.
    expect(told((await work(root, 'echo more >> b.txt')).changes)).toEqual(['modified b.txt +1 -0'])
    expect(existsSync(join(place('changes'), again))).toBe(false)
  })

  it('is known though a git that was killed has left its lock', async () => {
    const root = place('locked')
    await repository(root, { 'a.txt': 'one\n' })
    open(root)
    const id = await create(root, 'echo two >> a.txt; echo begun; while [ ! -e go ]; do sleep 0.05; done; rm go')
    await eventsUntil(daemon, id, (event) => event.type === 'agent.message')
    await writeFile(join(place('changes'), `${id}.1`, 'index.lock'), '')
    await writeFile(join(root, 'go'), '')
    await eventsUntil(daemon, id, isResting)
    expect(told(await daemon.runtime.listChanges(id))).toEqual(['modified a.txt +1 -0'])
  })

  it('is there also when the run failed or was stopped', async () => {
    const root = place('failed')
    await put(root, {})
    await mkdir(root, { recursive: true })
    open(root)
    const once = {
      agentConfig: commandAgent(['/bin/sh', '-c', 'echo half > half.txt; exit 3'], {
        retry: { attempts: 1, baseDelayMs: 1, maxDelayMs: 1 },
      }),
    }
    expect(told((await work(root, '', once)).changes)).toEqual(['added half.txt +1 -0'])
    const id = await create(root, 'echo more > more.txt; sleep 60')
    await until(() => existsSync(join(root, 'more.txt')))
    expect((await daemon.runtime.listChanges(id)).runs).toMatchObject([{ state: 'open' }])
    await daemon.runtime.cancelTask(id, { by: 'test', now: true })
    await eventsUntil(daemon, id, isResting)
    expect(told(await daemon.runtime.listChanges(id))).toEqual(['added more.txt +1 -0'])
  })

  it('is told run by run and all together, and goes with the task', async () => {
    const root = place('several')
    await mkdir(root)
    open(root)
    const script = 'if [ -e one ]; then echo 2 >> one; rm gone; echo x > two; else echo 1 > one; echo 1 > gone; fi'
    const { id } = await work(root, script, { review: true })
    await daemon.runtime.rejectTask(id, { comment: 'more', by: 'test' })
    await until(async () => (await daemon.runtime.getTask(id)).runs.filter(({ state }) => state === 'ended').length === 2)
    const changes = await daemon.runtime.listChanges(id)
    expect(changes.runs.map((run) => told(run))).toEqual([
      ['added gone +1 -0', 'added one +1 -0'],
      ['deleted gone +0 -1', 'modified one +1 -0', 'added two +1 -0'],
    ])
    expect(told(changes)).toEqual(['added one +2 -0', 'added two +1 -0'])
    expect(changes.isComposed).toBe(false)
    const [first, second] = changes.runs.map(({ run }) => run)
    expect(changes.files.map(({ runs }) => runs)).toEqual([[first, second], [second]])
    const ofTwo = await daemon.runtime.readDiff(id, { path: 'two' })
    expect(ofTwo).toMatch(/^diff --git a\/two b\/two\n/)
    expect(ofTwo).not.toContain('a/one')
    expect(await daemon.runtime.readDiff(id, { run: first, path: 'one' })).toContain('+1\n')
    await expect(daemon.runtime.readDiff(id, { path: 'three' })).rejects.toThrow('did not change three')
    // All of it in order makes of what was what is.
    const again = place('again')
    await mkdir(again)
    execFileSync('git', ['apply'], { cwd: again, input: await daemon.runtime.readDiff(id, {}) })
    expect(readFileSync(join(again, 'one'), 'utf8')).toBe('1\n2\n')
    await daemon.runtime.acceptTask(id, { by: 'test' })
    await daemon.runtime.removeTask(id, { by: 'test' })
    await expect(daemon.runtime.listChanges(id)).rejects.toThrow('There is no task')
  })

  it('holds no secret', async () => {
    const root = place('secrets')
    const key = [
      '-----BEGIN PRIVATE KEY-----',
      'MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcw',
      'ggSjAgEAAoIBAQC7VJTUt9Us8cKj',
      '-----END PRIVATE KEY-----',
    ]
    await put(root, { 'old.pem': `${key.join('\n')}\n` })
    open(root)
    const agentConfig = commandAgent(['/bin/sh', '-c', 'printf "%s\\n" "key=$MY_API_KEY" > env; rm old.pem'], {
      env: { pass: [], set: { MY_API_KEY: 'canary-4f9a8b7c6d5e' } },
    })
    const { changes, diff } = await work(root, '', { agentConfig })
    expect(told(changes)).toEqual(['added env +1 -0', 'deleted old.pem +0 -4'])
    expect(diff).toContain('+key=[redacted:MY_API_KEY]')
    expect(diff).toContain('-[redacted:private key]')
    expect(diff).not.toContain('MIIE')
  })
})

describe('a hostile tree', () => {
  it('starts nothing, leads nowhere and hides nothing', async () => {
    const root = place('hostile')
    const canary = place('canary')
    await repository(root, { 'a.txt': 'a\n', 'dir/inner.txt': 'inner\n', 'b.js': 'b\n' })
    await writeFile(place('outside.txt'), 'OUTSIDE\n')
    const evil = join(root, 'evil.sh')
    await writeFile(evil, `#!/bin/sh\necho x >> ${canary} 2>/dev/null; echo x >> ${root}/ran; cat\n`)
    await chmod(evil, 0o755)
    git(root, 'config', 'filter.evil.clean', evil)
    git(root, 'config', 'diff.evil.textconv', evil)
    git(root, 'config', 'diff.external', evil)
    git(root, 'config', 'core.fsmonitor', evil)
    git(root, 'config', 'core.quotePath', 'true')
    open(root)
    const steps = [
      // The whole tree is to be taken for binary, and for something that a program turns into text.
      "printf '* -diff filter=evil diff=evil\\n*.js binary diff=evil\\n' > .gitattributes",
      'echo more >> a.txt',
      'echo more >> b.js',
      // What is tracked is to be overlooked.
      'git update-index --assume-unchanged b.js',
      // A link in the place of a folder, and one to a file outside.
      `mv dir moved; ln -s ${home.path} dir; ln -s ${place('outside.txt')} link; ln -s /etc/passwd passwd`,
      'mkfifo pipe',
      `printf n > "$(printf 'new\\nline')"`,
      `printf e > "$(printf 'esc\\033[31m')"`,
      `printf l > "$(printf 'latin\\351')"`,
      'printf u > ünï',
      'mkdir closed; echo c > closed/c; echo unreadable > unreadable; chmod 0 unreadable',
      'git init -q nested; echo n > nested/n.txt',
      'head -c 9000000 /dev/zero > zeros',
      "head -c 1500000 /dev/zero | tr '\\0' 'x' > wide.txt",
    ]
    const { changes, diff } = await work(root, steps.join('\n'))
    const paths = changes.files.map(({ path }) => path)
    expect(existsSync(canary)).toBe(false)
    expect(paths).not.toContain('ran')
    expect(paths).toEqual(
      expect.arrayContaining([
        '.gitattributes',
        'a.txt',
        'b.js',
        'dir',
        'link',
        'passwd',
        'new\nline',
        'esc\u001b[31m',
        'ünï',
        'zeros',
        'wide.txt',
        'unreadable',
        'closed/c',
      ]),
    )
    expect(paths).not.toContain('pipe')
    expect(diff).toContain('+more\n')
    expect(diff.match(/^\+more$/gm)).toHaveLength(2)
    expect(diff).not.toContain('OUTSIDE')
    expect(diff).not.toContain('root:')
    expect(diff).toContain(`+${place('outside.txt')}\n`)
    const of = (path: string) => changes.files.find((file) => file.path === path)
    expect(of('zeros')).toMatchObject({ status: 'added', binary: true, patch: 'none' })
    expect(of('wide.txt')).toMatchObject({ status: 'added', binary: true })
    expect(changes.runs[0]?.why).toContain('repositories of their own: nested')
    if (process.getuid?.() === 0) expect(of('unreadable')).toMatchObject({ binary: true })
  })

  it('is cut where it would be too much, and says so', async () => {
    const root = place('much')
    await mkdir(root)
    open(root)
    const script = 'i=0; while [ $i -lt 12 ]; do seq 1 30000 > f$i; i=$((i+1)); done; seq 1 90000 > large'
    const { changes, diff } = await work(root, script)
    expect(changes).toMatchObject({ fileCount: 13, added: 12 * 30_000 + 90_000 })
    expect(changes.files.find(({ path }) => path === 'large')).toMatchObject({ patch: 'none', added: 90_000 })
    expect(diff.length).toBeLessThanOrEqual(1_000_000)
    expect(changes.runs[0]?.why).toContain('not kept whole')
  })

  it('is not taken for something that it was swapped for', async () => {
    const root = place('swapped')
    await repository(root, { 'a/f.txt': 'f\n' })
    open(root)
    symlinkSync('/nowhere', join(root, 'dangling'))
    const { changes } = await work(root, 'rm -r a; echo now-a-file > a; rm dangling; mkdir dangling; echo x > dangling/x')
    expect(told(changes)).toEqual(['added a +1 -0', 'deleted a/f.txt +0 -1', 'deleted dangling +0 -1', 'added dangling/x +1 -0'])
  })
})
