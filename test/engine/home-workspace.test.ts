import { execFileSync } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readdir, realpath, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Daemon } from '../../src/daemon/daemon.ts'
import type { NewTask } from '../../src/domain/view/view.ts'
import { commandAgent, eventsUntil, isResting, makeHome, startEngine } from './home.ts'

const secrets = {
  '.ssh/id_ed25519': 'KEY',
  '.netrc': 'NETRC',
  '.aws/credentials': 'AWS',
  '.config/gcloud/token': 'GCLOUD',
  '.config/gh/hosts.yml': 'GH',
  '.npmrc': 'NPM',
  '.bash_history': 'TYPED',
  '.docker/config.json': 'DOCKER',
  '.claude/.credentials.json': 'CLAUDE',
  '.mozilla/firefox/p/logins.json': 'BROWSER',
  'deep/er/.gnupg/key': 'GPG',
  'old/pawl/token': 'PAWL',
  'old/pawl/run.json': 'PAWL',
  'old/pawl/sessions/s/transcript': 'PAWL',
}

describe('a home folder as a workspace', () => {
  const before = process.env.HOME
  let pawl: Awaited<ReturnType<typeof makeHome>>
  let person: string
  let daemon: Daemon
  beforeAll(async () => {
    person = join(await realpath(await mkdtemp(join(tmpdir(), 'pawl-person-'))), 'alice')
    await chmod(dirname(person), 0o755)
    process.env.HOME = person
    for (const [path, text] of Object.entries({ ...secrets, 'project/a.txt': 'hello', '.config/app/settings': 'fine' })) {
      await mkdir(dirname(join(person, path)), { recursive: true })
      await writeFile(join(person, path), text)
    }
    await symlink('old/keys', join(person, '.password-store'))
    await mkdir(join(person, 'old/keys'))
    await writeFile(join(person, 'old/keys/bank'), 'LINKED')
    execFileSync('chmod', ['-R', 'a+rwX', person])
    pawl = await makeHome()
    await writeFile(
      join(pawl.path, 'config.yaml'),
      `mounts:
  people: { path: ${dirname(person)} }
  aws: { path: ${person}/.aws }
`,
    )
    daemon = await startEngine(pawl.path)
  })
  afterAll(async () => {
    if (before === undefined) delete process.env.HOME
    else process.env.HOME = before
    await daemon.stop()
    await pawl.remove()
    await rm(dirname(person), { recursive: true, force: true })
  })

  const another = async () => {
    const folder = await mkdtemp(join(pawl.path, 'work-'))
    await chmod(folder, 0o777)
    return folder
  }
  const create = async (script: string, task: Partial<NewTask>) => {
    const agentConfig = commandAgent(['/bin/sh', '-c', script], { retry: { attempts: 1, baseDelayMs: 1, maxDelayMs: 1 } })
    return (await daemon.runtime.createTask({ prompt: 'x', agentConfig, ...task }, { by: 'test' })).task
  }
  const ran = async (script: string, task: Partial<NewTask>) => {
    const { id } = await create(script, task)
    const events = await eventsUntil(daemon, id, isResting)
    const { result, state, reason } = await daemon.runtime.getTask(id)
    const notes = events.flatMap((event) => (event.type === 'run.noted' ? [event.data.detail] : [])).join('\n')
    return { text: result?.text ?? '', state, reason, notes }
  }
  const readAll = 'cat $(find . -type f -size -9k 2>/dev/null) 2>/dev/null; true'

  it('is refused wherever a workspace can be named, with what to do instead', async () => {
    const refused = /home folder.*--workspace DIR.*--scratch.*--allow-home/
    for (const workspace of [person, dirname(person), `${person}/project/..`])
      await expect(create('true', { workspace })).rejects.toThrow(refused)
    await expect(daemon.runtime.checkTask({ prompt: 'x', workspace: person }, { by: 'test' })).rejects.toThrow(refused)
    await expect(daemon.runtime.createSession({ workspace: person }, { by: 'test' })).rejects.toThrow(refused)
    const task = { prompt: 'x', workspace: person }
    const schedule = {
      when: { kind: 'every', everyMs: 60_000 },
      task,
      session: 'new',
      overlap: 'skip',
      catchUp: 'one',
      jitterMs: 0,
    } as const
    await expect(daemon.runtime.createSchedule(schedule, { by: 'test' })).rejects.toThrow(refused)
    await expect(create('true', { workspace: await another(), contextDirs: [person] })).rejects.toThrow(
      /context folder .* is a home folder/,
    )
    await expect(
      daemon.runtime.createTask({ ...task, allowHome: true }, { by: 'x', user: 'x', standing: 'operator' }),
    ).rejects.toThrow(/may not choose "allowHome"/)
  })

  it.each(['direct', 'copy'] as const)(
    'shows no key, login or history to whoever was let in (%s), and says what is covered',
    async (workspaceMode) => {
      const { text, notes } = await ran(readAll, { workspace: person, allowHome: true, workspaceMode })
      expect(text).toContain('hello')
      expect(text).toContain('fine')
      for (const secret of [...Object.values(secrets), 'LINKED']) expect(text).not.toContain(secret)
      for (const path of ['.ssh', '.netrc', '.npmrc', '.config/gh', 'old/pawl']) expect(notes).toContain(path)
    },
  )

  it('shows none below a mount or a context folder either, but those that a mount names', async () => {
    const all = `cat $(find ${dirname(person)} -type f -size -9k 2>/dev/null) 2>/dev/null; true`
    const read = await ran(all, { workspace: await another(), contextDirs: [person], allowHome: true })
    const mounted = await ran(all, { mounts: [{ base: 'people' }, { base: 'aws' }] })
    for (const { text } of [read, mounted]) {
      expect(text).toContain('fine')
      for (const secret of [...Object.values(secrets), 'LINKED'].filter((one) => one !== 'AWS'))
        expect(text).not.toContain(secret)
    }
    expect(read.text).not.toContain('AWS')
    expect(mounted.text).toContain('AWS')
    expect(mounted.notes).toContain(join(person, '.ssh'))
  })

  it('keeps its keys as they were, and what an agent puts among them comes out', async () => {
    const script =
      'rm -rf .ssh .netrc .aws; mv .ssh x; echo evil > .ssh/authorized_keys; mkdir -p sub/.kube; echo evil > sub/.kube/config; true'
    await ran(script, { workspace: person, allowHome: true, workspaceMode: 'direct' })
    expect(await readdir(join(person, '.ssh'))).toEqual(['id_ed25519'])
    expect(await readdir(join(person, 'sub'))).toEqual([])
  })

  it('is refused at the start of a run too, if the folder became one since', async () => {
    const other = join(dirname(person), 'other')
    await mkdir(other)
    await chmod(other, 0o777)
    const first = await create('sleep 2', { review: true })
    const { id } = await create(readAll, { workspace: other, dependsOn: [first.id] })
    await rename(other, `${other}-was`)
    await rename(person, other)
    process.env.HOME = other
    try {
      await eventsUntil(daemon, first.id, isResting)
      await daemon.runtime.acceptTask(first.id, { by: 'test' })
      await eventsUntil(daemon, id, isResting)
      expect(await daemon.runtime.getTask(id)).toMatchObject({ state: 'failed', reason: { kind: 'workspace_error' } })
    } finally {
      await rename(other, person)
      process.env.HOME = person
    }
  })
})
