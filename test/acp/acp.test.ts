import { chmod, copyFile, mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { methods, type RequestPermissionRequest, type SessionUpdate } from '@agentclientprotocol/sdk'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import type { TaskView } from '../../src/domain/view/view.ts'
import { json, pawl, serve } from '../e2e/pawl.ts'
import { makeHome } from '../engine/ready-database.ts'
import { until } from '../engine/until.ts'
import { openEditor, type TestEditor } from './editor.ts'

let home: Awaited<ReturnType<typeof makeHome>>
let programs: string
let folder: string
let elsewhere: string
let daemon: Awaited<ReturnType<typeof serve>>
const patient = { timeout: 120_000 }
const editors: TestEditor[] = []
const env = { ANTHROPIC_API_KEY: 'key-0123456789' }

beforeAll(async () => {
  home = await makeHome()
  programs = await mkdtemp(join(tmpdir(), 'pawl-program-'))
  await chmod(programs, 0o755)
  await copyFile(fileURLToPath(new URL('../fake-agent/fake-claude.js', import.meta.url)), join(programs, 'fake-claude.js'))
  await writeFile(join(programs, 'claude'), `#!/bin/sh\nexec "${process.execPath}" "${programs}/fake-claude.js" "$@"\n`, {
    mode: 0o755,
  })
  folder = join(await realpath(home.path), 'project')
  elsewhere = join(await realpath(home.path), 'elsewhere')
  for (const each of [folder, elsewhere]) await mkdir(each)
  await mkdir(join(home.path, 'prompts/tasks'), { recursive: true })
  await writeFile(join(home.path, 'prompts/tasks/repeat.md'), 'Say this again: {{task}}\n')
  const helper = `adapter: claude-code, command: ${join(programs, 'claude')}, gateway: false`
  await writeFile(
    join(home.path, 'config.yaml'),
    [
      'defaultAgent: helper',
      // However slow the machine is, a run that waits for an answer is still there when the next editor has started.
      'questions: { liveWindow: 5m }',
      'agents:',
      `  helper: { ${helper}, profile: careful }`,
      `  other: { ${helper} }`,
      'profiles:',
      '  careful: { extends: guarded, rules: { ask: ["Bash(git push:*)"] } }',
      '',
    ].join('\n'),
  )
  daemon = await serve(home.path, { env })
}, 120_000)
afterEach(async () => {
  for (const editor of editors.splice(0)) {
    await editor.close()
    expect(editor.faults(), editor.stderr()).toEqual([])
  }
})
afterAll(async () => {
  daemon.process.kill('SIGTERM')
  await daemon.ended
  await home.remove()
  await rm(programs, { recursive: true, force: true })
})

const open = async (options?: Parameters<typeof openEditor>[1]) => {
  const editor = await openEditor(home.path, options)
  editors.push(editor)
  return editor
}
const tasksOf = async (session: string) => {
  const { tasks } = json<{ tasks: TaskView[] }>(await pawl(home.path, ['sessions', 'show', session, '--json']))
  return tasks
}
/** What is being said, word by word. */
const growing = (text: string) => {
  const event = (of: object) => ({ line: { type: 'stream_event', event: { index: 0, ...of } } })
  const pieces = text.match(/\S+\s*/g) ?? []
  return [
    event({ type: 'content_block_start', content_block: { type: 'text', text: '' } }),
    ...pieces.map((piece) => event({ type: 'content_block_delta', delta: { type: 'text_delta', text: piece } })),
  ]
}
const whole = (block: object) => ({ line: { type: 'assistant', message: { content: [block] } } })
const returned = (id: string, content: string) => ({
  line: { type: 'user', message: { content: [{ type: 'tool_result', tool_use_id: id, content, is_error: false }] } },
})
const kind = (update: SessionUpdate) => update.sessionUpdate

it(
  'a prompt is a task, and what its agent says, plans and does comes as it happens, with a permission in between',
  patient,
  async () => {
    const asked: RequestPermissionRequest[] = []
    let saidBefore: string[] = []
    const editor: TestEditor = await open({
      async permit(request) {
        asked.push(request)
        saidBefore = editor.text(request.sessionId)
        return { outcome: { outcome: 'selected', optionId: 'Allow once' } }
      },
    })
    expect(editor.about).toMatchObject({
      protocolVersion: 1,
      agentInfo: { name: 'pawl', title: 'Pawl' },
      agentCapabilities: {
        loadSession: true,
        promptCapabilities: { image: true, audio: false, embeddedContext: true },
        sessionCapabilities: { list: {}, resume: {}, close: {} },
      },
      authMethods: [{ id: 'helper', name: expect.stringMatching(/^Log in to /) }],
    })
    const { sessionId, modes, configOptions } = await editor.newSession(folder)
    expect(modes?.currentModeId).toBe('careful')
    expect(configOptions?.map(({ id, category }) => [id, category])).toEqual([
      ['profile', 'mode'],
      ['agent', '_agent'],
    ])
    const steps = [
      ...growing('I look around.'),
      whole({ type: 'text', text: 'I look around.' }),
      { use: { id: 'push', name: 'Bash', input: { command: 'git push origin' } } },
      whole({ type: 'thinking', thinking: 'Hm.' }),
      whole({
        type: 'tool_use',
        id: 'todo',
        name: 'TodoWrite',
        input: {
          todos: [
            { content: 'look', status: 'completed' },
            { content: 'mend', status: 'in_progress' },
          ],
        },
      }),
      returned('todo', 'ok'),
      whole({ type: 'tool_use', id: 'edit', name: 'Edit', input: { file_path: 'a.txt', old_string: 'one', new_string: 'two' } }),
      returned('edit', 'edited'),
      { say: 'All done.' },
    ]
    const { stopReason, _meta } = await editor.prompt(sessionId, steps)
    expect(stopReason).toBe('end_turn')
    const [task] = await tasksOf(sessionId)
    expect(task).toMatchObject({ state: 'completed', workspace: folder, agent: 'helper' })
    expect(_meta).toMatchObject({ pawl: { task: task!.id } })

    expect(saidBefore).toEqual(['I look around.'])
    expect(asked[0]).toMatchObject({ sessionId, toolCall: { kind: 'execute', name: 'Bash' } })
    expect(asked[0]?.options).toEqual([
      { optionId: 'Allow once', name: 'Allow once', kind: 'allow_once' },
      { optionId: 'Allow for this task', name: 'Allow for this task', kind: 'allow_always' },
      { optionId: 'Deny', name: 'Deny', kind: 'reject_once' },
    ])
    const updates = editor.updates(sessionId)
    const calls = updates.filter((update) => update.sessionUpdate === 'tool_call')
    expect(calls.map(({ title, kind, status }) => [title, kind, status])).toEqual([
      ['git push origin', 'execute', 'in_progress'],
      ['TodoWrite', 'think', 'in_progress'],
      ['Edit a.txt', 'edit', 'in_progress'],
    ])
    expect(asked[0]?.toolCall.toolCallId).toBe(calls[0]?.toolCallId)
    expect(calls[2]).toMatchObject({
      locations: [{ path: join(folder, 'a.txt') }],
      content: [{ type: 'diff', path: join(folder, 'a.txt'), oldText: 'one', newText: 'two' }],
    })
    const ends = updates.filter((update) => update.sessionUpdate === 'tool_call_update')
    expect(ends.map(({ toolCallId, status }) => [toolCallId, status])).toEqual(
      calls.map((call) => [call.toolCallId, 'completed']),
    )
    expect(updates.find((update) => update.sessionUpdate === 'plan')).toMatchObject({
      entries: [
        { content: 'look', status: 'completed' },
        { content: 'mend', status: 'in_progress' },
      ],
    })
    expect(editor.text(sessionId, 'agent_thought')).toEqual(['Hm.'])
    expect(editor.text(sessionId).at(-1)).toBe('All done.')
    expect(updates.filter((update) => update.sessionUpdate === 'available_commands_update')[0]).toMatchObject({
      availableCommands: [{ name: 'repeat', description: 'Say this again: {{task}}' }],
    })
    expect(updates.find((update) => update.sessionUpdate === 'session_info_update')).toMatchObject({ title: expect.any(String) })
  },
)

it('files, links and commands of a prompt reach the agent', patient, async () => {
  const editor = await open()
  const { sessionId } = await editor.newSession(folder)
  await editor.agent.request(methods.agent.session.prompt, {
    sessionId,
    prompt: [
      { type: 'text', text: 'See' },
      { type: 'resource_link', name: 'a.txt', uri: `file://${folder}/a.txt` },
      { type: 'resource', resource: { uri: 'file:///b.txt', text: 'what is in b' } },
      { type: 'image', mimeType: 'image/png', data: Buffer.from('a picture').toString('base64') },
    ],
  })
  await editor.prompt(sessionId, '/repeat hello')
  const [second, first] = await Promise.all(
    (await tasksOf(sessionId)).map(async ({ id }) => json<TaskView>(await pawl(home.path, ['task', 'show', id, '--json']))),
  )
  expect(first?.prompt).toContain(`See [a.txt](${folder}/a.txt) /b.txt:\n\`\`\`text\nwhat is in b`)
  expect(first?.settings.attachments).toMatchObject([{ name: 'image-1.png', size: 9 }])
  expect(second?.prompt).toBe('Say this again: hello')
  expect(editor.text(sessionId).at(-1)).toContain('Say this again: hello')
})

it('two sessions work at once, each in its mode, and only the one that is cancelled is', patient, async () => {
  const editor = await open()
  const [one, two] = await Promise.all([editor.newSession(folder), editor.newSession(elsewhere)])
  await editor.agent.request(methods.agent.session.setMode, { sessionId: two.sessionId, modeId: 'strict' })
  expect(
    await editor.agent.request(methods.agent.session.setConfigOption, {
      sessionId: one.sessionId,
      configId: 'agent',
      value: 'other',
    }),
  ).toMatchObject({
    configOptions: [
      { id: 'profile', currentValue: 'guarded' },
      { id: 'agent', currentValue: 'other' },
    ],
  })
  const hanging = editor.prompt(one.sessionId, [...growing('Something that is being said and '), { hang: true }])
  // While it is said: nothing of it is stored yet.
  await until(() => editor.text(one.sessionId)[0]?.startsWith('Something that is'))
  expect(await editor.prompt(two.sessionId, [{ say: 'quick' }])).toMatchObject({ stopReason: 'end_turn' })
  await editor.agent.notify(methods.agent.session.cancel, { sessionId: one.sessionId })
  expect(await hanging).toMatchObject({ stopReason: 'cancelled' })
  expect(editor.text(two.sessionId)).toEqual(['quick'])
  const show = async (session: string) => {
    const [task] = await tasksOf(session)
    return json<TaskView>(await pawl(home.path, ['task', 'show', task!.id, '--json']))
  }
  expect(await show(one.sessionId)).toMatchObject({ state: 'cancelled', agent: 'other', settings: { profile: 'guarded' } })
  expect(await show(two.sessionId)).toMatchObject({ state: 'completed', agent: 'helper', settings: { profile: 'strict' } })
  const update = editor.updates(two.sessionId).find((each) => each.sessionUpdate === 'config_option_update')
  expect(update).toMatchObject({ configOptions: [{ id: 'profile', currentValue: 'strict' }, { id: 'agent' }] })
})

it('with --when-gone cancel what runs ends with the editor, else it goes on', patient, async () => {
  const stateAfter = async (args: readonly string[]) => {
    const editor = await openEditor(home.path, { args })
    const { sessionId } = await editor.newSession(folder)
    editor.prompt(sessionId, [{ say: 'begun' }, { hang: true }]).catch(() => undefined)
    await until(() => editor.text(sessionId).includes('begun'))
    expect(await editor.close()).toBe(0)
    expect(editor.faults()).toEqual([])
    return (await tasksOf(sessionId))[0]!
  }
  const cancelled = await stateAfter(['--when-gone', 'cancel'])
  await until(async () => json<TaskView>(await pawl(home.path, ['task', 'show', cancelled.id, '--json'])).state === 'cancelled')
  const going = await stateAfter([])
  expect(going.state).toBe('running')
  await pawl(home.path, ['cancel', going.id])
})

it('what cannot be is refused in a sentence, and what fails is an error', patient, async () => {
  const editor = await open()
  const refused = (asked: Promise<unknown>) =>
    asked.then(
      () => 'it was taken',
      (error: unknown) => error,
    )
  expect(await refused(editor.newSession('project'))).toMatchObject({
    code: -32602,
    message: expect.stringContaining('absolute path'),
  })
  expect(await refused(editor.newSession(join(folder, 'nowhere')))).toMatchObject({
    code: -32602,
    message: expect.stringContaining('nowhere'),
  })
  expect(await refused(editor.prompt('s_000000000000000000', 'x'))).toMatchObject({ code: -32002 })
  expect(await refused(editor.load('s_000000000000000000', folder))).toMatchObject({ code: -32002 })
  expect(await refused(editor.agent.request('_pawl/fly', {}))).toMatchObject({ code: -32601 })
  const { sessionId } = await editor.newSession(folder)
  expect(await refused(editor.load(sessionId, home.path))).toMatchObject({
    message: expect.stringContaining(`works in ${folder}`),
  })
  expect(await refused(editor.prompt(sessionId, '  '))).toMatchObject({ code: -32602, message: expect.stringContaining('empty') })
  expect(await refused(editor.agent.request(methods.agent.session.setMode, { sessionId, modeId: 'carefull' }))).toMatchObject({
    message: 'Profile cannot be "carefull"; did you mean "careful"?',
  })
  expect(
    await refused(editor.agent.request(methods.agent.session.setConfigOption, { sessionId, configId: 'modell', value: 'x' })),
  ).toMatchObject({ message: expect.stringContaining('no option "modell"') })
  const failed = await refused(editor.prompt(sessionId, [{ fail: 'API Error: 401 {"error":{"message":"invalid x-api-key"}}' }]))
  expect(failed).toMatchObject({
    code: expect.any(Number),
    data: { task: expect.stringMatching(/^t_/), code: expect.any(String) },
  })
  expect(editor.text(sessionId)).toEqual([])
  editor.child.stdin.write('this is no JSON\n[]\n')
  expect(await editor.prompt(sessionId, [{ say: 'still here' }])).toMatchObject({ stopReason: 'end_turn' })
  const listed = await editor.agent.request(methods.agent.session.list, { cwd: folder })
  expect(listed.sessions).toContainEqual(expect.objectContaining({ sessionId, cwd: folder, title: expect.any(String) }))
  await editor.agent.request(methods.agent.session.close, { sessionId })
  expect(await refused(editor.prompt(sessionId, 'x'))).toMatchObject({ code: -32002 })
  expect(
    await refused(
      openEditor(home.path, { args: ['--agent', 'halper'] }).then((other) =>
        other.newSession(folder).finally(() => other.kill()),
      ),
    ),
  ).toMatchObject({
    message: expect.stringContaining('did you mean "helper"?'),
  })
})

it('a question is a form where the editor has forms, and else the next prompt answers it', patient, async () => {
  const call = { call: { name: 'ask_user', arguments: { question: 'Which port?', options: ['80', '8080'] } } }
  const forms: unknown[] = []
  const editor = await open({
    capabilities: { elicitation: { form: {} } },
    async fill(request) {
      forms.push(request)
      return { action: 'accept', content: { choice: '8080' } }
    },
  })
  const { sessionId } = await editor.newSession(folder)
  expect(await editor.prompt(sessionId, [call, { say: 'thanks' }])).toMatchObject({ stopReason: 'end_turn' })
  expect(forms).toMatchObject([
    {
      mode: 'form',
      message: 'Which port?',
      requestedSchema: { properties: { choice: { oneOf: [{ const: '80' }, { const: '8080' }] } } },
    },
  ])
  expect(editor.text(sessionId).join()).toContain('8080')

  const plain = await open()
  const other = await plain.newSession(folder)
  expect(await plain.prompt(other.sessionId, [call, { say: 'thanks' }])).toMatchObject({ stopReason: 'end_turn' })
  expect(plain.text(other.sessionId).at(-1)).toBe('Which port?\n1. 80\n2. 8080')
  expect(await plain.prompt(other.sessionId, '2')).toMatchObject({ stopReason: 'end_turn' })
  expect(await tasksOf(other.sessionId)).toMatchObject([{ state: 'completed' }])
  expect(plain.text(other.sessionId).join()).toContain('8080')
})

it(
  'a permission that was asked while no editor was there is asked of whoever loads the session, and the answer begins the next run',
  patient,
  async () => {
    const editor = await open({ permit: async () => ({ outcome: { outcome: 'selected', optionId: 'Allow once' } }) })
    const { sessionId } = await editor.newSession(folder)
    const push = { use: { id: 'p', name: 'Bash', input: { command: 'git push' } } }
    const play = [{ next: [push, { say: 'it is pushed' }] }, push]
    expect(await pawl(home.path, ['send', sessionId, JSON.stringify(play)])).toMatchObject({ code: 0 })
    await until(async () => (await tasksOf(sessionId))[0]?.state === 'blocked')
    await editor.load(sessionId, folder)
    await until(() => editor.text(sessionId).includes('it is pushed'))
    const [task] = await tasksOf(sessionId)
    const { runs } = json<TaskView>(await pawl(home.path, ['task', 'show', task!.id, '--json']))
    expect(runs).toMatchObject([{ outcome: 'blocked' }, {}])
  },
)

it(
  'neither the end of pawl acp nor that of the daemon loses anything: a session is loaded with all of it, and a prompt goes on',
  patient,
  async () => {
    const asked = Promise.withResolvers<void>()
    const first = await openEditor(home.path, {
      permit() {
        asked.resolve()
        return new Promise(() => undefined)
      },
    })
    const { sessionId } = await first.newSession(folder)
    await first.prompt(sessionId, [{ say: 'the first answer' }])
    void first
      .prompt(sessionId, [
        { say: 'the second begins' },
        { use: { id: 'p', name: 'Bash', input: { command: 'git push' } } },
        { say: 'the second ends' },
      ])
      .catch(() => undefined)
    // Not before: a run that asks while nobody is there ends. And unanswered: an editor that says "cancelled" stops the task.
    await asked.promise
    await first.kill()
    expect(first.faults()).toEqual([])

    // It waits for a permission, and asks whoever comes.
    const second = await open({
      permit: async () => ({ outcome: { outcome: 'selected', optionId: 'Allow for this task' } }),
    })
    expect(await second.load(sessionId, folder)).toMatchObject({ modes: { currentModeId: 'careful' } })
    expect(second.text(sessionId, 'user')).toHaveLength(2)
    await until(() => second.text(sessionId).includes('the second ends'), 60_000)
    expect(second.text(sessionId).slice(0, 2)).toEqual(['the first answer', 'the second begins'])
    await until(async () => (await tasksOf(sessionId))[0]?.state === 'completed')

    const going = second.prompt(sessionId, [{ next: [{ say: 'the third ends' }] }, { say: 'the third begins' }, { hang: true }])
    await until(() => second.text(sessionId).includes('the third begins'))
    daemon.process.kill('SIGKILL')
    await daemon.ended
    daemon = await serve(home.path, { env })
    expect(await going).toMatchObject({ stopReason: 'end_turn' })
    expect(second.text(sessionId)).toContain('the third ends')
    const before = second.text(sessionId)

    const third = await open()
    await third.load(sessionId, folder)
    expect(third.text(sessionId)).toEqual(before)
    const order = third.updates(sessionId).flatMap((update) => (/user|agent_message/.test(kind(update)) ? [kind(update)] : []))
    expect(order.filter((each) => each === 'user_message_chunk')).toHaveLength(3)
    expect(order[0]).toBe('user_message_chunk')
    expect(await third.prompt(sessionId, [{ say: 'the fourth' }])).toMatchObject({ stopReason: 'end_turn' })
    expect(await readFile(join(home.path, 'run.json'), 'utf8')).toContain(String(daemon.process.pid))
  },
)
