import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TaskSummary, TaskView } from '../../src/domain/view/view.ts'
import { makeHome } from '../engine/ready-database.ts'
import { json, pawl } from './pawl.ts'

const splitter = `prompt=$(cat)
case "$prompt" in
  *comment*) echo "changed" ;;
  *" ended."*) echo "both are there" ;;
  ask*) curl -sS -o asked -H "Authorization: Bearer $PAWL_DOOR_TOKEN" -d '{"text":"Which?"}' "$PAWL_DOOR_URL/v1/questions" ;;
  part*) echo "did $prompt" ;;
  *) for part in \${prompt#split}; do
       curl -sS -o made -H "Authorization: Bearer $PAWL_API_TOKEN" -d "{\\"name\\":\\"$part\\",\\"prompt\\":\\"$part\\"}" "$PAWL_API_URL/v1/subtasks"
     done ;;
esac
`

describe('subtasks and review, from the command line and without a daemon', { timeout: 120_000 }, () => {
  let home: Awaited<ReturnType<typeof makeHome>>
  let cwd: string
  beforeAll(async () => {
    home = await makeHome()
    cwd = join(home.path, 'project')
    await mkdir(cwd)
    await writeFile(join(cwd, 'split.sh'), splitter)
    await writeFile(
      join(home.path, 'config.yaml'),
      'agents:\n  splitter: { adapter: custom, command: [sh, ./split.sh], profile: unattended-open }\n',
    )
  })
  afterAll(async () => {
    await pawl(home.path, ['stop'])
    await home.remove()
  })
  const run = (...args: string[]) => pawl(home.path, args, { cwd })
  const last = async () => json<TaskView>(await run('task', 'show', 'last', '--json'))

  it('one command runs the task, its subtasks and the task again, and a person accepts it', async () => {
    const ended = await run('run', '--agent', 'splitter', '--review', 'split part1 part2')
    expect([ended.code, ended.stdout.trim()]).toEqual([0, 'both are there'])
    expect(ended.stderr).toContain('blocked: waits for its subtasks')
    const task = await last()
    expect(task).toMatchObject({ state: 'review', parent: null, subtasks: [{ name: 'part1' }, { name: 'part2' }] })
    const shown = await run('task', 'show', 'last')
    expect(shown.stdout).toMatch(/subtask +├─ t_\w+ completed: part1\nsubtask +└─ t_\w+ completed: part2/)
    const parts = json<{ items: TaskSummary[] }>(await run('ls', '--parent', 'last', '--json')).items
    expect(parts.map(({ parent }) => parent)).toEqual([task.id, task.id])
    const rejected = await run('task', 'reject', 'last', '--comment', 'use tabs', '--wait')
    expect([rejected.code, rejected.stdout.trim()]).toEqual([0, 'changed'])
    expect(json<TaskView>(await run('task', 'accept', 'last', '--json')).state).toBe('completed')
    const again = await run('task', 'reject', task.id, '--comment', 'too late')
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('is completed, not in review')])
  })

  it('leaves when all that is open waits for somebody, and says for whom', async () => {
    const ended = await run('run', '--agent', 'splitter', 'split part1 ask')
    expect(ended.code).toBe(3)
    const { subtasks } = await last()
    const asking = subtasks.find(({ name }) => name === 'ask')
    expect(ended.stderr).toContain('Waits for 1 of its 2 subtasks.')
    expect(ended.stderr).toContain(`${asking?.id.slice(-6)} is blocked (ask)`)
    expect((await run('task', 'cancel', 'last')).code).toBe(0)
    expect((await last()).subtasks.map(({ state }) => state)).toEqual(['completed', 'cancelled'])
  })
})
