import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Daemon } from '../../src/daemon/daemon.ts'
import type { Event } from '../../src/domain/event/event.ts'
import type { Checks } from '../../src/domain/task/spec.ts'
import type { NewTask } from '../../src/domain/view/view.ts'
import { outsideOf } from '../../src/engine/checks/prove.ts'
import { repository } from '../../src/engine/workspace/testing.ts'
import { treeHash } from '../../src/engine/workspace/tree-hash.ts'
import { commandAgent, eventsUntil, isResting, makeHome, startEngine, until } from './home.ts'

let home: Awaited<ReturnType<typeof makeHome>>
let folder: string
let daemon: Daemon
beforeAll(async () => {
  home = await makeHome()
  daemon = await startEngine(home.path)
})
afterAll(async () => {
  await daemon.stop()
  await home.remove()
})
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pawl-checks-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

type Commands = (string | Checks['commands'][number])[]
const checksOf = (commands: Commands, attempts = 0): Checks => ({
  commands: commands.map((run) => (typeof run === 'string' ? { run } : run)),
  attempts,
})

async function begin(script: string, commands: Commands, task: Partial<NewTask> = {}) {
  const { task: made } = await daemon.runtime.createTask(
    {
      prompt: 'do it',
      agentConfig: commandAgent(['bash', '-c', script]),
      workspace: folder,
      checks: checksOf(commands),
      ...task,
    },
    { by: 'test' },
  )
  return made
}

/** Has a shell do the work of the agent, and Pawl the checks. */
async function finish(script: string, commands: Commands, task: Partial<NewTask> = {}) {
  const made = await begin(script, commands, task)
  const events = await eventsUntil(daemon, made.id, isResting)
  return { events, task: await daemon.runtime.getTask(made.id), proof: await daemon.runtime.listChecks(made.id) }
}
const endsOf = (events: readonly Event[]) => events.flatMap((event) => (event.type === 'check.ended' ? [event.data] : []))
const outputFile = (run: string, number = 1) => join(home.path, 'runs', run, `check-${number}.log`)
const outputOf = (run: string, number = 1) => readFile(outputFile(run, number), 'utf8')

describe('the checks of a task', () => {
  it('run after the last write and prove the work: the result is bound to the tree as it is then', async () => {
    const { task, events, proof } = await finish('echo made > made.txt; echo done', ['grep made made.txt', 'test -e made.txt'])
    expect(task).toMatchObject({ state: 'completed', proof: 'verified', result: { outcome: 'succeeded', verified: true } })
    expect(events.filter(({ type }) => type.startsWith('check.')).map(({ type }) => type)).toEqual([
      'check.started',
      'check.ended',
      'check.started',
      'check.ended',
    ])
    const { hash } = await treeHash(folder)
    expect(endsOf(events)).toMatchObject([
      { number: 1, name: 'grep made made.txt', passed: true, exitCode: 0, tree: hash, changedTree: false },
      { number: 2, passed: true, tree: hash },
    ])
    const run = task.runs[0]!.id
    expect(proof).toMatchObject({
      task: task.id,
      proof: 'verified',
      folder,
      items: [{ number: 1, run, tree: hash }, { number: 2 }],
    })
    expect(await outputOf(run)).toBe('made\n')
    expect(proof.items[0]?.outputDigest).toBe(createHash('sha256').update('made\n').digest('hex'))
    expect(events.at(-1)).toMatchObject({ type: 'task.completed', data: { verified: true } })
  })

  it('that fail end the task as such, name the check, and all the others are run as well', async () => {
    const { task, events, proof } = await finish('echo done', [{ run: 'echo no >&2; exit 3', name: 'tests' }, 'true'])
    expect(task).toMatchObject({
      state: 'failed',
      proof: 'none',
      reason: { kind: 'checks_failed', detail: 'The check "tests" (exit code 3) did not pass.' },
      result: { outcome: 'failed', verified: false },
    })
    expect(endsOf(events).map(({ passed }) => passed)).toEqual([false, true])
    expect(proof).toMatchObject({ proof: 'none', items: [{ exitCode: 3 }, { exitCode: 0 }] })
  })

  it('are told to the agent with their output, as often as the task allows, and the chain goes on', async () => {
    const script = 'if [ -e first ]; then cat > told; touch fixed; else touch first; fi; echo done'
    const checks = checksOf(['test -e fixed || { echo "fixed is missing"; exit 1; }'], 1)
    const { task, events, proof } = await finish(script, [], { checks })
    expect(task).toMatchObject({ state: 'completed', proof: 'verified' })
    expect(task.runs.map(({ category }) => category)).toEqual(['checks_failed', null])
    expect(events.some((event) => event.type === 'task.requeued' && event.data.why === 'checks')).toBe(true)
    expect(await readFile(join(folder, 'told'), 'utf8')).toContain('fixed is missing')
    expect(proof.items.map(({ number, exitCode }) => [number, exitCode])).toEqual([
      [1, 1],
      [2, 0],
    ])
    expect(proof.items[1]?.previous).toBe(proof.items[0]?.hash)
  })

  it('are not run for a run that did not end well', async () => {
    const { events, proof } = await finish('echo no; exit 1', ['true'])
    expect(endsOf(events)).toEqual([])
    expect(proof).toMatchObject({ proof: 'none', items: [] })
  })

  it('wait for the subtasks of the task: before they have ended its work is not done', async () => {
    // A folder of its own, in place: what a test puts there is seen by the agent.
    const script = 'while [ ! -e go ]; do sleep 0.05; done; cat > told; if grep -q subtask told; then touch made; fi; echo done'
    const made = await begin(script, ['test -e made'], { workspace: undefined, skipPlanning: true })
    await eventsUntil(daemon, made.id, ({ type }) => type === 'run.started')
    const agentConfig = commandAgent(['true'], { options: { command: ['echo', 'part'] } })
    const part = await daemon.runtime.createTask({ prompt: 'part', agentConfig, parent: made.id }, { by: 'test' })
    await writeFile(join((await daemon.runtime.getTask(made.id)).workspace, 'go'), '')
    await eventsUntil(daemon, part.task.id, isResting)
    const events = await eventsUntil(daemon, made.id, ({ type }) => type === 'task.completed' || type === 'task.failed')
    expect(events.at(-1)).toMatchObject({ type: 'task.completed', data: { verified: true } })
    expect(endsOf(events)).toMatchObject([{ passed: true }])
  })

  it('leave a task without them reported', async () => {
    const { task, proof } = await finish('echo done', [], { checks: undefined })
    expect(task).toMatchObject({ state: 'completed', proof: 'reported', result: { verified: false } })
    expect(proof).toMatchObject({ proof: 'reported', items: [] })
  })

  it('are stopped with the task', async () => {
    // Its last character begins no form of any secret: what may begin one is held back until more comes.
    const made = await begin('echo done', ['echo going.; sleep 600'])
    const started = await eventsUntil(daemon, made.id, ({ type }) => type === 'check.started')
    const run = started.find(({ type }) => type === 'check.started')!.run!
    await until(async () => existsSync(outputFile(run)) && (await outputOf(run)).includes('going.'))
    expect(await daemon.runtime.getTask(made.id)).toMatchObject({ state: 'running', current: 'checks: echo going.; sleep 600' })
    await daemon.runtime.cancelTask(made.id, { by: 'test', now: true })
    await eventsUntil(daemon, made.id, isResting)
    expect(await daemon.runtime.getTask(made.id)).toMatchObject({ state: 'cancelled', proof: 'none' })
    expect((await daemon.runtime.listChecks(made.id)).items).toEqual([])
  })
})

describe('what an agent says of itself', () => {
  const header = (status: string) => `printf -- '---\\nrequest_status: ${status}\\nerror: no disk\\n---\\nText.\\n'`

  it('lowers the outcome, and then nothing is checked', async () => {
    const { task, events } = await finish(header('Failed'), ['true'])
    expect(task).toMatchObject({ state: 'failed', reason: { kind: 'reported_failure', detail: 'The agent says: no disk' } })
    expect(task.runs).toHaveLength(1)
    expect(endsOf(events)).toEqual([])
    const partial = await finish(header('PARTIAL'), ['true'])
    expect(partial.task).toMatchObject({ state: 'completed', reason: { kind: 'partial' }, result: { outcome: 'partial' } })
    expect(endsOf(partial.events)).toHaveLength(1)
  })

  it('raises nothing: a program that fails has failed, and so has work whose checks do', async () => {
    const crashed = await finish(`${header('COMPLETE')}; exit 4`, [])
    expect(crashed.task).toMatchObject({ state: 'failed', reason: { kind: 'exit_code' } })
    const unproved = await finish(header('COMPLETE'), ['false'])
    expect(unproved.task).toMatchObject({ state: 'failed', reason: { kind: 'checks_failed' } })
  })

  it('is summed up in its own words', async () => {
    const { task } = await finish("printf 'Long story.\\n\\n## Summary\\n\\nFixed it.\\n'", [], { checks: undefined })
    expect(task.result?.summary).toBe('Fixed it.')
    const [listed] = (await daemon.runtime.listTasks({ limit: 1 })).items
    expect(listed?.result?.summary).toBe('Fixed it.')
  })
})

describe('what a running task does', () => {
  it('is shown in one line at once, and no longer when it has ended, well or not', async () => {
    for (const code of [0, 1]) {
      const script = `echo "**working** on it"; while [ ! -e go ]; do sleep 0.05; done; exit ${code}`
      const made = await begin(script, [], { workspace: undefined, checks: undefined })
      await eventsUntil(daemon, made.id, ({ type }) => type === 'agent.message')
      const { current, workspace } = await daemon.runtime.getTask(made.id)
      expect(current).toBe('working on it')
      const { items } = await daemon.runtime.listTasks({ limit: 1 })
      expect(items[0]).toMatchObject({ id: made.id, current: 'working on it' })
      await writeFile(join(workspace, 'go'), '')
      await eventsUntil(daemon, made.id, isResting)
      expect((await daemon.runtime.getTask(made.id)).current).toBeNull()
      expect((await daemon.runtime.listTasks({ limit: 1 })).items[0]?.current).toBeNull()
    }
  })
})

describe('an agent that cheats', () => {
  it('is dead when the checks begin: what it left running changes nothing any more', async () => {
    const script =
      'echo "exit 1" > check.sh; (setsid bash -c "while :; do echo exit 0 > check.sh; sleep 0.01; done" >/dev/null 2>&1 &); sleep 0.1; echo "exit 1" > check.sh; echo done'
    const { events, proof } = await finish(script, ['sleep 0.3; cat check.sh', 'true'])
    const [first] = endsOf(events)
    expect(first).toMatchObject({ changedTree: false })
    expect(proof.items[0]?.treeBefore).toBe(proof.items[1]?.tree)
  })

  it('does not bring programs of its own: neither by the search path nor by settings in its home', async () => {
    const script =
      'mkdir -p node_modules/.bin; for f in node_modules/.bin/ls ls; do printf "#!/bin/sh\\necho fake\\n" > $f; chmod +x $f; done; echo "echo fake" > ~/.bashrc; echo done'
    const { events, task } = await finish(script, ['ls; ls -a ~; test ! -e ~/.bashrc'])
    expect(endsOf(events)).toMatchObject([{ passed: true }])
    expect(await outputOf(task.runs[0]!.id)).not.toContain('fake')
    const path = [
      '.',
      '',
      'bin',
      join(folder, 'node_modules/.bin'),
      folder,
      '/usr/bin',
      `${folder}-beside/bin`,
      `/usr/..${folder}/bin`,
    ]
    expect(outsideOf([folder], path)).toEqual(['/usr/bin', `${folder}-beside/bin`])
    expect(outsideOf(['/'], path)).toEqual([])
  })

  it('plants nothing by way of a check', async () => {
    const { task, events } = await finish('echo done', [
      'mkdir -p .vscode && echo "{}" > .vscode/tasks.json; mkdir -p deep/.vscode && echo "{}" > deep/.vscode/tasks.json; true',
    ])
    const quarantined = events.flatMap((event) => (event.type === 'workspace.quarantined' ? event.data.paths : []))
    expect(quarantined.join()).toContain('deep/.vscode')
    expect(existsSync(join(folder, 'deep/.vscode/tasks.json'))).toBe(false)
    const { hash } = await treeHash(folder)
    expect((await daemon.runtime.listChecks(task.id)).items[0]?.tree).toBe(hash)
  })

  it('gains nothing by a check that floods, sleeps, forks or is killed', async () => {
    const { task, events } = await finish('echo done', [
      'head -c 30000000 /dev/zero | tr "\\0" x; exit 1',
      { run: 'echo begun; sleep 600', timeoutMs: 500 },
      '(setsid sleep 600 &); for i in 1 2 3 4 5; do sleep 600 & done; true',
      'kill -9 $$',
    ])
    expect(task).toMatchObject({ state: 'failed', reason: { kind: 'checks_failed' } })
    expect(endsOf(events).map(({ passed, exitCode }) => [passed, exitCode])).toEqual([
      [false, 1],
      [false, null],
      [true, 0],
      [false, 137],
    ])
    expect(endsOf(events)[1]?.why).toBe('it took longer than 0.5 s')
    const run = task.runs[0]!.id
    const kept = await outputOf(run)
    expect(kept.length).toBeLessThan(10_000_200)
    expect(kept).toMatch(/20000000 more bytes are not kept\]\n$/)
    expect(await outputOf(run, 2)).toBe('begun\n')
    expect(endsOf(events)[2]?.durationMs).toBeLessThan(60_000)
  })

  it('and a check that writes is told: the proof is bound to what is there after it', async () => {
    const { task, events, proof } = await finish('echo done', ['echo more > more.txt', 'test -e more.txt'])
    expect(task).toMatchObject({ proof: 'verified' })
    expect(endsOf(events).map(({ changedTree }) => changedTree)).toEqual([true, false])
    expect(proof.items.at(-1)?.tree).toBe((await treeHash(folder)).hash)
  })

  it('does not see secrets in the output of a check', async () => {
    const secret = 'hunter2-hunter2-hunter2'
    const agentConfig = commandAgent(['bash', '-c', 'echo done'], { env: { pass: [], set: { SOME_TOKEN: secret } } })
    const { task } = await finish('', [`echo "key ${secret}"; exit 1`], { agentConfig })
    expect(await outputOf(task.runs[0]!.id)).toBe('key [redacted:SOME_TOKEN]\n')
    expect(await outputOf(task.runs[0]!.id)).not.toContain(secret)
  })
})

it('a clone is checked in the clone, and that is where its proof is compared', async () => {
  await repository(folder, { 'a.txt': 'one' })
  const { task, proof } = await finish('echo two > a.txt; echo done', ['grep two a.txt'], { workspaceMode: 'clone' })
  expect(task).toMatchObject({ proof: 'verified', workspace: folder })
  expect(proof.folder).not.toBe(folder)
  expect(await readFile(join(folder, 'a.txt'), 'utf8')).toBe('one')
  expect(await daemon.runtime.verifyTask(task.id)).toMatchObject({ verified: true, tree: { isSame: true } })
})

it('a copy is checked before it is brought back', async () => {
  await mkdir(join(folder, 'sub'))
  await writeFile(join(folder, 'sub/a.txt'), 'one')
  const { task, proof } = await finish('echo two > sub/a.txt; echo done', ['grep two sub/a.txt'], { workspaceMode: 'copy' })
  expect(task).toMatchObject({ proof: 'verified', workspace: folder })
  expect(await readFile(join(folder, 'sub/a.txt'), 'utf8')).toBe('two\n')
  expect(proof).toMatchObject({ folder })
  expect(proof.items[0]?.tree).toBe((await treeHash(folder)).hash)
})

describe('pawl verify', () => {
  it('walks the chain and says whether the workspace is still the one that was looked at', async () => {
    const { task } = await finish('echo made > made.txt; echo done', ['test -e made.txt'])
    const verdict = await daemon.runtime.verifyTask(task.id)
    expect(verdict).toMatchObject({ verified: true, chain: { isWhole: true, checks: 1 }, tree: { isSame: true } })
    await writeFile(join(folder, 'made.txt'), 'changed')
    const changed = await daemon.runtime.verifyTask(task.id)
    expect(changed).toMatchObject({ verified: false, proof: 'verified', chain: { isWhole: true }, tree: { isSame: false } })
    expect(changed.why).toContain('the workspace has changed since')
    await rm(folder, { recursive: true })
    expect(await daemon.runtime.verifyTask(task.id)).toMatchObject({ verified: true, tree: { isSame: null } })
  })

  it('says of work that nobody checked that it is only reported', async () => {
    const { task } = await finish('echo done', [], { checks: undefined })
    expect(await daemon.runtime.verifyTask(task.id)).toMatchObject({ verified: false, proof: 'reported', chain: { checks: 0 } })
    await expect(daemon.runtime.recheckTask(task.id, { by: 'test' })).rejects.toThrow('has no checks')
  })

  it('has the checks run again where the work is, and the chain goes on', async () => {
    const { task } = await finish('echo good > made.txt; echo done', ['grep good made.txt'])
    await writeFile(join(folder, 'made.txt'), 'bad')
    const again = async () => {
      expect((await daemon.runtime.recheckTask(task.id, { by: 'test' })).isChecking).toBe(true)
      return until(async () => {
        const proof = await daemon.runtime.listChecks(task.id)
        return !proof.isChecking && proof
      })
    }
    expect(await again()).toMatchObject({
      proof: 'reported',
      trouble: null,
      items: [{ exitCode: 0 }, { run: null, exitCode: 1 }],
    })
    expect(await daemon.runtime.verifyTask(task.id)).toMatchObject({ verified: false, chain: { isWhole: true, checks: 2 } })
    await writeFile(join(folder, 'made.txt'), 'good again')
    expect(await again()).toMatchObject({ proof: 'verified', items: [{}, {}, { run: null, exitCode: 0 }] })
    expect(await daemon.runtime.verifyTask(task.id)).toMatchObject({ verified: true, tree: { isSame: true } })
    expect(await daemon.runtime.getTask(task.id)).toMatchObject({ state: 'completed', proof: 'verified' })
    // What the last one printed was written over what the one before did.
    const printed = (number: number) => daemon.runtime.readCheckOutput(task.id, number)
    expect(await printed(1)).toEqual({ number: 1, output: 'good\n', leftOut: 0 })
    expect(await printed(2)).toEqual({ number: 2, output: null, leftOut: 0 })
    expect(await printed(3)).toEqual({ number: 3, output: 'good again\n', leftOut: 0 })
    await expect(printed(4)).rejects.toThrow(`Task ${task.id} has no check number 4`)
  })

  it('follows no link that the agent left, and writes nowhere but in its copy', async () => {
    const outside = await mkdtemp(join(tmpdir(), 'pawl-outside-'))
    await writeFile(join(outside, 'secret'), 'hidden-word')
    const kept = 'test -L leak && test -L out && ! grep -q hidden-word leak out/secret 2>/dev/null'
    const { task } = await finish(`ln -s ${outside}/secret leak; ln -s ${outside} out; echo done`, [
      kept,
      'echo x > out/written 2>/dev/null; echo x >> leak 2>/dev/null; true',
    ])
    expect(task).toMatchObject({ state: 'completed', proof: 'verified' })
    await daemon.runtime.recheckTask(task.id, { by: 'test' })
    const proof = await until(async () => {
      const now = await daemon.runtime.listChecks(task.id)
      return !now.isChecking && now
    })
    expect(proof).toMatchObject({ proof: 'verified', trouble: null, items: [{}, {}, { run: null, exitCode: 0 }, {}] })
    expect(existsSync(join(outside, 'written'))).toBe(false)
    expect(await readFile(join(outside, 'secret'), 'utf8')).toBe('hidden-word')
    await rm(outside, { recursive: true, force: true })
  })

  it('runs the checks of no more than two tasks again at once, and those of one task once at a time', async () => {
    const made: string[] = []
    for (const name of ['a', 'b', 'c']) {
      const workspace = join(folder, name)
      await mkdir(workspace)
      made.push((await finish('echo done', ['test ! -e slow || sleep 1'], { workspace })).task.id)
      await writeFile(join(workspace, 'slow'), '')
    }
    await Promise.all(made.map((id) => daemon.runtime.recheckTask(id, { by: 'test' })))
    await expect(daemon.runtime.recheckTask(made[0]!, { by: 'test' })).rejects.toMatchObject({ code: 'conflict' })
    const isGoing = async (id: string) => (await daemon.runtime.listChecks(id)).isChecking
    await until(async () => !(await Promise.all(made.map(isGoing))).includes(true))
    const proofs = await Promise.all(made.map((id) => daemon.runtime.listChecks(id)))
    expect(proofs.map(({ items }) => items.length)).toEqual([2, 2, 2])
    const [first, , third] = proofs
      .map(({ items }) => items[1]!)
      .sort((a, b) => Date.parse(a.startedAt) - Date.parse(b.startedAt))
    expect(Date.parse(third!.startedAt)).toBeGreaterThanOrEqual(Date.parse(first!.endedAt))
  })

  it('leaves the head of each chain in the audit', async () => {
    const { task, proof } = await finish('echo done', ['true'])
    await daemon.audit.seal({ wait: true })
    const { items } = await daemon.audit.list({ limit: 5, action: 'task.check' })
    expect(items.find(({ subject }) => subject === task.id)?.detail).toMatchObject({
      passed: true,
      head: proof.items.at(-1)?.hash,
      tree: proof.items.at(-1)?.tree,
    })
  })
})
