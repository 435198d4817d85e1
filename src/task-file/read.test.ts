import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it, test } from 'vitest'
import { readTaskFile } from './read.ts'

const folder = mkdtempSync(join(tmpdir(), 'pawl-task-file-'))
afterAll(() => rmSync(folder, { recursive: true }))
const read = async (text: string, name = 'tasks.yaml') => {
  writeFileSync(join(folder, name), text)
  return (await readTaskFile(folder, name)).tasks
}

describe('a task file', () => {
  it('holds one task, a list, several documents, or a map with "tasks", as YAML or JSON', async () => {
    const one = [{ prompt: 'a' }]
    expect(await read('prompt: a')).toEqual(one)
    expect(await read('- prompt: a\n- prompt: b\n')).toEqual([...one, { prompt: 'b' }])
    expect(await read('prompt: a\n---\n- prompt: b\n---\nprompt: c\n')).toHaveLength(3)
    expect(await read('tasks:\n  - prompt: a\n')).toEqual(one)
    expect(await read('[{"prompt": "a"}]', 'tasks.json')).toEqual(one)
    expect(await read('{"tasks": [{"prompt": "a"}]}', 'tasks.json')).toEqual(one)
  })

  it('says everything that a task can be told', async () => {
    const [task] = await read(`
name: nightly
prompt: go
agent: helper
model: opus
profile: strict
workspace: sub
workspace_mode: clone
bring_back: branch
context_dirs: [../docs, /srv/api]
writable_dirs: [../out]
allowed_tools: ["Bash(git log:*)"]
disallowedTools: [WebFetch]
append_system_prompt: be brief
extra_args: [--debug]
budget: {usd: 2.5, tokens: 100000, turns: 40, wall: 1h30m, per_run_usd: 1}
timeout: 45m
retry: {attempts: 5, backoff: linear, delay: 10s, max_delay: 5m}
priority: high
tags: [night]
depends_on: t_0123456789abcdefgh
parent: t_0123456789abcdefgh
review: true
checks: [npm test, {name: lint, run: npm run lint, timeout: 2m}]
once: true
skip_planning: true
failover: [other]
questions: {deadline: 2h, after_deadline: {kind: proceed, answer: yes please}, may_answer: [ann]}
subtasks: {most: 3, depth: 1, budget_share: 0.2, when_done: review}
mounts: [reports, "shop=projects/shop:rw", {base: notes}]
output_schema: {type: object}
`)
    expect(task).toEqual({
      ...{ name: 'nightly', prompt: 'go', agent: 'helper', model: 'opus', profile: 'strict' },
      ...{ workspace: join(folder, 'sub'), workspaceMode: 'clone', bringBack: 'branch' },
      ...{
        contextDirs: [join(folder, '../docs'), '/srv/api'],
        writableDirs: [join(folder, '../out')],
        allowedTools: ['Bash(git log:*)'],
        disallowedTools: ['WebFetch'],
      },
      ...{ appendSystemPrompt: 'be brief', extraArgs: ['--debug'] },
      budget: { usd: 2.5, tokens: 100_000, turns: 40, wallMs: 5_400_000, perRunUsd: 1 },
      timeoutMs: 2_700_000,
      retry: { attempts: 5, backoff: 'linear', baseDelayMs: 10_000, maxDelayMs: 300_000 },
      ...{ priority: 1, tags: ['night'], dependsOn: ['t_0123456789abcdefgh'], parent: 't_0123456789abcdefgh', review: true },
      checks: { commands: [{ run: 'npm test' }, { name: 'lint', run: 'npm run lint', timeoutMs: 120_000 }], attempts: 0 },
      ...{ once: true, skipPlanning: true, failover: ['other'] },
      questions: { deadlineMs: 7_200_000, afterDeadline: { kind: 'proceed', answer: 'yes please' }, mayAnswer: ['ann'] },
      subtasks: { most: 3, depth: 1, budgetShare: 0.2, whenDone: 'review' },
      mounts: [{ base: 'reports' }, { base: 'projects', subpath: 'shop', alias: 'shop', mode: 'rw' }, { base: 'notes' }],
      outputSchema: { type: 'object' },
    })
  })

  it('of Claudomator is understood: claude and agent blocks, its names, and ids that tasks refer to', async () => {
    const tasks = await read(`
- id: one
  name: Build
  description: The nightly build.
  claude:
    model: sonnet
    instructions: make it build
    working_dir: /srv/app
    max_budget_usd: 1.5
    allowed_tools: [Bash, Read]
    disallowed_tools: [WebFetch]
    context_files: [/srv/docs]
    system_prompt_append: be brief
    additional_args: [--verbose-tools]
    skip_planning: true
    permission_mode: bypassPermissions
  timeout: 15m0s
  retry: {max_attempts: 3, backoff: exponential}
  priority: low
- name: Test
  agent: {type: codex, instructions: make the tests pass, max_budget_usd: 0}
  depends_on: [one]
`)
    expect(tasks).toEqual([
      {
        ...{
          name: 'Build',
          prompt: 'The nightly build.\n\nmake it build',
          agent: 'claude',
          model: 'sonnet',
          workspace: '/srv/app',
        },
        ...{ budget: { usd: 1.5 }, allowedTools: ['Bash', 'Read'], disallowedTools: ['WebFetch'], writableDirs: ['/srv/docs'] },
        ...{ appendSystemPrompt: 'be brief', extraArgs: ['--verbose-tools'], skipPlanning: true, profile: 'guarded' },
        ...{ timeoutMs: 900_000, retry: { attempts: 3, backoff: 'exponential' }, priority: -1 },
      },
      { name: 'Test', agent: 'codex', prompt: 'make the tests pass', dependsOn: ['Build'], budget: {}, skipPlanning: false },
    ])
  })

  it('of Claudomator is asked to plan and has Bash for that, unless it says otherwise', async () => {
    const planning = async (block: string, beside = '') => {
      const [task] = await read(`claude: {instructions: a, ${block}}\n${beside}`)
      return [task?.skipPlanning, task?.allowedTools]
    }
    expect(await planning('model: opus')).toEqual([false, undefined])
    expect(await planning('allowed_tools: [Read]')).toEqual([false, ['Read', 'Bash']])
    expect(await planning('allowed_tools: [Bash, Read]')).toEqual([false, ['Bash', 'Read']])
    expect(await planning('allowed_tools: [Read], disallowed_tools: [Bash]')).toEqual([false, ['Read']])
    expect(await planning('allowed_tools: [Read], skip_planning: true')).toEqual([true, ['Read']])
    expect(await planning('allowed_tools: [Read]', 'once: true')).toEqual([true, ['Read']])
    const [own] = await read('prompt: a\nagent: claude\nallowed_tools: [Read]')
    expect([own?.skipPlanning, own?.allowedTools]).toEqual([undefined, ['Read']])
  })

  it('of Claudomator keeps the profile that it names beside a permission mode', async () => {
    const [task] = await read('profile: strict\nclaude: {instructions: a, permission_mode: bypassPermissions}')
    expect(task?.profile).toBe('strict')
  })
})

test.each([
  ['deny', { kind: 'deny' }],
  ['{proceed: yes please}', { kind: 'proceed', answer: 'yes please' }],
  ['{escalate: {webhook: ops}}', { kind: 'escalate', webhook: 'ops' }],
  ['{kind: escalate, agent: judge}', { kind: 'escalate', agent: 'judge' }],
])('an unanswered question ends as settings or the API write it: %s', async (written, meant) => {
  const [task] = await read(`prompt: a\nquestions: {deadline: 1h, after_deadline: ${written}}`)
  expect(task?.questions?.afterDeadline).toEqual(meant)
})

const faults: [what: string, text: string, says: string][] = [
  ['an unknown key', 'prompt: a\npromt: b', 'tasks.yaml:2 "promt" is not known here; did you mean "prompt"?'],
  [
    'an unknown key inside',
    'prompt: a\nretry:\n  atempts: 2',
    'tasks.yaml:3 "atempts" is not known here; did you mean "attempts"?',
  ],
  [
    'an unknown key of a block',
    'agent:\n  instructions: a\n  allowd_tools: [x]',
    'tasks.yaml:3 "allowd_tools" is not known here; did you mean "allowedTools"?',
  ],
  ['no prompt', '- name: x\n- prompt: b', 'tasks.yaml:1 prompt is missing; it must be a text.'],
  [
    'an empty prompt',
    '- prompt: b\n- prompt: "  "',
    'tasks.yaml:2 prompt is not accepted: The prompt is empty; say what the agent should do.',
  ],
  [
    'a wrong duration',
    'prompt: a\ntimeout: soon',
    'tasks.yaml:2 "timeout" must be a duration such as 90s, 30m or 1h30m (a bare number means seconds).',
  ],
  ['a wrong kind of value', 'prompt: a\ntags: urgent', 'tasks.yaml:2 tags must be a list.'],
  ['a wrong item of a list', 'prompt: a\ntags:\n  - ok\n  - 7', 'tasks.yaml:4 tags[1] must be a text.'],
  ['a budget that is no number', 'prompt: a\nbudget: {usd: much}', 'tasks.yaml:2 budget.usd must be a number.'],
  ['a wrong word', 'prompt: a\nretry:\n  backoff: squared', 'tasks.yaml:3 retry.backoff must be one of exponential, linear.'],
  [
    'a permission mode',
    'claude:\n  instructions: a\n  permission_mode: acceptEdits',
    'tasks.yaml:3 "permissionMode" must be bypassPermissions, which is "profile: guarded" here; for a mode that asks or holds back write "profile: strict" in its place.',
  ],
  [
    'a permission mode beside the block',
    'prompt: a\npermission_mode: bypassPermissions',
    'tasks.yaml:2 "permission_mode" belongs into the block of the agent',
  ],
  ['a schedule', 'prompt: a\nschedule: daily', 'tasks.yaml:2 "schedule" must be right'],
  ['a task that is no map', '- prompt: a\n- just words', 'tasks.yaml:2 A task must be a map of keys and values.'],
  ['a list of nothing', '[]', 'There is no task in tasks.yaml'],
  ['no list of tasks', 'tasks:\n', 'tasks.yaml:1 "tasks" must be a list of tasks.'],
  [
    'an end of a question that is not known',
    'prompt: a\nquestions:\n  after_deadline: {procede: x}',
    'tasks.yaml:3 "afterDeadline" must be deny, fail, {proceed: ANSWER}',
  ],
  [
    'a kind that is not known',
    'prompt: a\nquestions:\n  after_deadline: ignore',
    'must be one of deny, proceed, escalate, fail.',
  ],
  ['nothing', '', 'There is no task in tasks.yaml'],
  ['broken YAML', 'prompt: a\ntags: [\n', 'tasks.yaml:3:1 is not YAML: '],
  ['a key that is there twice', 'prompt: a\nprompt: b', 'tasks.yaml:2:1 is not YAML: Map keys must be unique'],
  ['broken JSON', '{"prompt": "a"', 'tasks.yaml:1:15 is not YAML: '],
  ['an alias that names nothing', 'prompt: *x', 'tasks.yaml:1 '],
]

test.each(faults)('%s is refused with the line it stands in', async (_, text, says) => {
  await expect(read(text)).rejects.toThrow(says)
})

test('all that is wrong is said at once', async () => {
  await expect(read('- promt: a\n- prompt: b\n  timout: 3m\n')).rejects.toThrow(
    /^2 things are wrong:\n {2}tasks\.yaml:1 "promt".*\n {2}tasks\.yaml:3 "timout"/,
  )
})

test('a file that is not there is named', async () => {
  await expect(readTaskFile(folder, 'none.yaml')).rejects.toThrow('The task file none.yaml does not exist.')
})

test('a file that expands without end is refused', async () => {
  const bomb = [
    'a: &a [x,x,x,x,x,x,x,x,x,x]',
    ...[...'bcdefgh'].map((name, i) => `${name}: &${name} [${Array(10).fill(`*${'abcdefg'[i]}`).join(',')}]`),
  ]
  await expect(read(bomb.join('\n'))).rejects.toThrow(/tasks\.yaml:1 cannot be read/)
})
