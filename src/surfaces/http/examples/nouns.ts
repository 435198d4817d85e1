import type { Json } from './sample.ts'

/** One small world, so that an id in one example is found again in the next: Ada's shop, whose calendar is wrong about leap years. What a schema wants beyond these is filled in from it. */
export const task = 't_1m7hre0130s44sv77b'
export const run = 'r_1m7hre01zyt3p6abvk'
export const session = 's_1m7hre016654bcrdky'
export const schedule = 'c_1m7hre310msvs9zn2r'
export const question = 'q_1m7hre1hkkjzpzksj4'
export const blocked = 't_1m7hre1587mhcemrak'
export const workspace = '/srv/shop'
export const prompt = 'The calendar is wrong about leap years: 1900 had no 29 February. Correct it, with a test.'

const [begun, ended] = ['2026-01-12T08:43:57.862Z', '2026-01-12T08:51:12.958Z']
const [head, tree] = [
  'e6e3e8b66abfb61e21aeee308c51e7a1102aa1c03808fffa4d3986644d792137',
  '27c2ccba5718440175e1d8bbe09e9f470ae7ee1fd2d6af036d41ab225a8ee089',
]
const said = 'Leap years follow the Gregorian rule now. All 14 tests pass.'
const usage = { turns: 11, inputTokens: 9_214, outputTokens: 2_310, cacheReadTokens: 55_284, cacheWriteTokens: 9_214 }
const check = { run: 'npm test', name: 'tests' }

const TaskSummary = {
  id: task,
  name: 'Correct the leap years',
  state: 'completed',
  reason: null,
  resumeAt: null,
  agent: 'coder',
  session,
  parent: null,
  priority: 0,
  tags: ['calendar'],
  workspace,
  prompt,
  createdAt: begun,
  updatedAt: ended,
  endedAt: ended,
  result: { outcome: 'succeeded', text: said, verified: true, costUsd: 0.42, usage, summary: said },
  proof: 'verified',
  current: null,
}
const Question = {
  id: question,
  task: blocked,
  kind: 'free',
  text: 'What becomes of the settings that users have as JSON?',
  options: ['Read both', 'Convert', 'Refuse'],
  state: 'pending',
  answer: null,
  askedAt: '2026-01-12T08:43:59.411Z',
  answeredAt: null,
  answeredBy: null,
  multiSelect: false,
  digest: `sha256:${head}`,
  mayAnswer: null,
  deadline: '2026-01-12T10:43:59.415Z',
  afterDeadline: { kind: 'proceed', answer: 'Read both' },
  escalatedTo: null,
}
const Task = {
  ...TaskSummary,
  runs: [
    {
      ...{ id: run, attempt: 1, fence: 1, state: 'ended', outcome: 'succeeded', category: null, message: null, agent: 'coder' },
      ...{ walls: 'bubblewrap', enforced: true, profile: 'guarded', costUsd: 0.42, usage, startedAt: begun, endedAt: ended },
    },
  ],
  questions: [],
  activity: null,
  dependsOn: [],
  subtasks: [],
  settings: {
    ...{ model: 'large-4', profile: 'guarded', budget: { usd: 5 }, timeoutMs: 1_800_000, extraArgs: [] },
    retry: { attempts: 3, baseDelayMs: 5_000, maxDelayMs: 600_000 },
    checks: { commands: [check], attempts: 1 },
  },
  cost: { usd: 0.42, totalUsd: 0.42, known: 'reported' },
  artifacts: 0,
}
const SessionSummary = {
  ...{ id: session, agent: 'coder', adapter: 'acp', workspace, vendorId: 'cacab61c-35b3-4069-bdf9-696c74d19404' },
  ...{ taskCount: 1, lastTask: { id: task, state: 'completed' }, archivedBytes: 48_211, createdAt: begun, updatedAt: ended },
  ...{ title: 'Correct the leap years', openQuestions: 0, costUsd: 0.42 },
}
const tick = {
  ...{ dueAt: '2026-01-12T02:00:00.000Z', firedAt: '2026-01-12T02:00:00.412Z', endedAt: '2026-01-12T02:06:31.004Z' },
  ...{ state: 'succeeded', detail: null, manual: false, task: 't_1m7hpz9b70f3kq2c5d', taskState: 'completed' },
}
const ScheduleSummary = {
  ...{ id: schedule, name: 'flaky-tests', state: 'active', says: '0 3 * * * Europe/Berlin', agent: 'coder' },
  when: { kind: 'cron', expression: '0 3 * * *', timeZone: 'Europe/Berlin' },
  ...{ prompt: 'Look for flaky tests and mend one.', session: 'new', overlap: 'skip', catchUp: 'one', jitterMs: 0 },
  ...{ nextAt: '2026-01-13T02:00:00.000Z', lastTick: tick, health: { healthy: true, failedInARow: 0, detail: null } },
  ...{ user: 'ada', source: null, createdAt: begun, updatedAt: begun },
}
const checkRow = {
  ...{ number: 1, round: 1, run, name: 'tests', command: 'npm test', exitCode: 0, why: null, outputDigest: head },
  ...{ treeBefore: tree, tree, startedAt: '2026-01-12T08:50:58.269Z', endedAt: ended, previous: tree, hash: head },
}
const Proof = { task, proof: 'verified', folder: workspace, items: [checkRow], isChecking: false, trouble: null }
const ChangedFile = {
  ...{ path: 'src/calendar.ts', from: null, status: 'modified', added: 2, removed: 1, binary: false, patch: 'whole' },
}
const sums = { fileCount: 1, added: 2, removed: 1 }
const RunChanges = { run, number: 1, state: 'files', why: null, covers: [], files: [ChangedFile], ...sums }
const RecordingSummary = {
  ...{ run, task, agent: 'coder', state: 'whole', calls: 11, bytes: 391_204, canReplay: true, stopped: null },
  ...{ begunAt: begun, endedAt: ended },
}
const ProfileSummary = { name: 'guarded', base: 'guarded', source: 'builtin', walls: true, digest: `sha256:${tree}` }
const Token = {
  ...{ id: 'k_1m7hre748332gemmf2', user: 'ada', kind: 'user', role: 'operator', name: 'laptop', task: null },
  ...{ createdAt: begun, createdBy: 'local', expiresAt: '2026-04-12T08:43:57.862Z', lastUsedAt: ended, revokedAt: null },
}
const spent = {
  ...{ usd: 4.53, countedUsd: 4.53, known: 'reported' },
  ...{ tokens: { input: 78_884, output: 18_225, cacheRead: 473_127, cacheWrite: 78_860 }, turns: 34 },
}
const Upload = {
  ...{ id: 'u_1m7hre5d3k8v0q4xwz', name: 'error.png', type: 'image/png', size: 18_211, sha256: head },
  ...{ createdAt: begun, expiresAt: '2026-01-13T08:43:57.862Z' },
}

/** By the names of the schemas. */
export const nouns: Readonly<Record<string, Json>> = {
  TaskSummary,
  Task,
  NewTask: { prompt, agent: 'coder', workspace, checks: { commands: [check] }, review: true },
  Question,
  SessionSummary,
  Session: { ...SessionSummary, tasks: [TaskSummary] },
  ScheduleSummary,
  Schedule: {
    ...ScheduleSummary,
    ...{ workspace, model: null, profile: 'guarded', sessionId: null, ticks: [tick] },
    next: [{ at: '2026-01-13T02:00:00.000Z', local: '2026-01-13 03:00 +01:00 Europe/Berlin' }],
  },
  Event: {
    seq: 5,
    at: '2026-01-12T08:44:02.223Z',
    task,
    run,
    type: 'agent.message',
    data: { text: 'I look for what decides about leap years.' },
  },
  Agent: {
    ...{
      name: 'coder',
      adapter: 'acp',
      model: 'large-4',
      profile: 'guarded',
      source: 'home',
      isDefault: true,
    },
    ...{ title: 'Coder', isOurs: false, can: ['resume', 'permissions', 'images'], tried: { from: '2.0.0', to: '2.1.325' } },
    install: 'npm install -g coder',
    health: {
      ...{ installed: true, healthy: true, version: '2.1.325', loggedIn: true, fix: null, warning: null },
      detail: 'found at /usr/local/bin/coder; its key is in CODER_API_KEY',
    },
    login: { variables: ['CODER_API_KEY'], files: ['~/.coder/login.json'] },
    ...{ hosts: ['api.example.org:443'], obeys: ['.coder', '.mcp.json', 'AGENTS.md'], tools: ['Bash', 'Edit', 'Read'] },
    sessionFiles: ['.coder/sessions/ID.jsonl'],
  },
  Board: { working: 1, needs_you: 2, review: 1, waiting: 2, done: 6 },
  BulkWork: { action: 'edit', tasks: [task, blocked], priority: 10, addTags: ['night'] },
  BulkResult: {
    done: [blocked],
    refused: [{ id: task, code: 'conflict', message: `Task ${task} is completed; only a task that waits can be changed.` }],
  },
  Proof,
  Verdict: {
    ...Proof,
    ...{ verified: true, why: 'All 1 checks passed for the tree 27c2ccba5718. The workspace is still like that.' },
    chain: { isWhole: true, checks: 1, head, firstBad: null },
    tree: { proved: tree, now: tree, isSame: true },
  },
  CheckOutput: { number: 1, output: ' Test Files  3 passed (3)\n      Tests  14 passed (14)\n', leftOut: 0 },
  Upload,
  Artifact: {
    id: 'a_1m7hre6c2m9w1r5yx0',
    task,
    run,
    name: 'report.html',
    type: 'text/html',
    size: 9_144,
    sha256: tree,
    createdAt: ended,
  },
  ChangedFile,
  TaskFile: { ...ChangedFile, runs: [run] },
  RunChanges,
  TaskChanges: { task, files: [{ ...ChangedFile, runs: [run] }], ...sums, isComposed: true, runs: [RunChanges] },
  RunLogPart: {
    run,
    stream: 'stdout',
    start: 0,
    end: 87,
    size: 4_318,
    text: '{"type":"system","subtype":"init","session_id":"cacab61c-35b3-4069-bdf9-696c74d19404"}\n',
  },
  SessionStop: { session, stopped: null },
  Limit: {
    ...{ account: 'coder · login', agents: ['coder'], kind: 'usage_limit', until: '2026-01-12T10:57:50.000Z' },
    ...{ checking: false, why: "You've hit your limit", times: 1, since: '2026-01-12T08:44:04.212Z', waiting: 1 },
  },
  Model: {
    ...{ name: 'large', aliases: ['best'], provider: 'main', kind: 'anthropic', formats: ['anthropic'] },
    ...{ target: 'large-4', maxOutputTokens: 64_000, priced: true, key: 'set' },
    reach: { ok: true, detail: 'api.example.org answered in 212 ms' },
  },
  ModelFigures: {
    ...{ model: 'large-4', provider: 'main', calls: 34, refused: 1, refusals: { rate_limited: 1 } },
    ...{ firstMs: { p50: 812, p99: 3_904 }, tokensPerSecond: 71.4, cacheHits: 0.86, outputTokens: 18_225 },
  },
  ProfileSummary,
  Profile: {
    ...ProfileSummary,
    profile: {
      ...{
        name: 'guarded',
        base: 'guarded',
        walls: true,
        otherwise: 'allow',
        mounts: [],
        secrets: [],
        skills: ['*'],
        subagents: ['*'],
      },
      rules: { allow: [], ask: ['Bash(git push:*)'], deny: ['request_permissions'] },
      tools: { native: true, disabled: [] },
      network: { allow: ['registry.npmjs.org'], ask: [], deny: [] },
      env: { pass: [], set: {} },
      limits: { processes: 512, openFiles: 4_096, memoryMb: 4_096, fileMb: 1_024, diskMb: 10_240, outputMb: 256 },
      ...{ instructions: true, trusted: [], nestedNamespaces: false },
    },
  },
  Push: {
    ...{ id: 'p_1m7hre9g7r4u8w1d5e', user: 'ada', label: 'Firefox on the phone', service: 'push.example.org' },
    ...{ events: ['question.asked', 'task.failed'], target: 'push-1m7hre9g', createdAt: begun },
  },
  Prices: {
    ...{ asOf: '2025-11', sources: ['example.org/pricing'] },
    items: [
      {
        model: 'large-4*',
        input: 3,
        output: 15,
        cacheRead: 0.3,
        cacheWrite: 3.75,
        cacheWriteHour: 6,
        pieces: {},
        from: 'list',
      },
    ],
  },
  Health: {
    ...{ version: '0.1.0', home: '/home/ada/.pawl', pid: 934, startedAt: begun, database: { kind: 'embedded', version: '18.4' } },
    walls: {
      ...{ name: 'bubblewrap', enforced: true, detail: 'bubblewrap 0.11.0', fix: null },
      selfTests: [
        {
          ...{ profile: 'guarded', passed: true, at: begun, ms: 570 },
          canaries: [{ name: 'read', verdict: 'held', detail: 'Refused: a file of Pawl could be read.' }],
        },
      ],
    },
    warm: [{ session, agent: 'coder', pid: 1_768, idleSince: ended }],
    tasks: { running: 1, blocked: 2, completed: 4 },
    halt: null,
    schedules: { refused: [], active: 2, paused: 1, unhealthy: [] },
    notifications: { waiting: 0, dead: 0 },
    agents: [
      {
        ...{ agent: 'coder', healthy: true, failedInARow: 0, lastSucceededAt: ended, lastEndedAt: ended, lastTask: task },
        ...{ category: null, detail: null, todo: null },
      },
    ],
    stuck: [],
  },
  CallToExplain: { tool: 'Bash', input: { command: 'git push origin main' }, workspace },
  Decision: {
    ...{ profile: 'careful', verdict: 'ask', rule: 'ask Bash(git push:*)', from: 'profile "careful"' },
    why: 'The rule ask Bash(git push:*) of profile "careful" is about it.',
  },
  Skill: {
    name: 'release-notes',
    scope: 'global',
    kind: 'instructions',
    description: 'How we write release notes.',
    problem: null,
  },
  Subagent: { name: 'reviewer', scope: 'global', description: 'Reads a diff and names what is wrong with it.', problem: null },
  Quarantine: {
    run,
    workspace,
    keptAt: ended,
    items: [{ path: '.git/hooks/pre-commit', runs: 'when git commits', instead: 'nothing' }],
  },
  KeptWorkspace: {
    name: task,
    task,
    kind: 'clone',
    path: `/home/ada/.pawl/workspaces/${task}`,
    bytes: 4_811_244,
    removable: true,
  },
  RecordingSummary,
  Recording: {
    ...RecordingSummary,
    ...{ model: 'large-4', workspace: { files: 41, bytes: 120_933 } },
    items: [
      {
        ...{ number: 1, atMs: 812, method: 'POST', path: '/v1/messages', model: 'large-4' },
        ...{ messages: 1, status: 200, durationMs: 4_212, whole: true },
      },
    ],
  },
  ReplayReport: {
    ...{ task: 't_1m7hs2k9d04v1n8e3q', run: 'r_1m7hs2k9e3m5q7t2wz', of: run, until: null, identical: true, costUsd: 0 },
    calls: { recorded: 11, replayed: 11, live: 0, missing: [] },
    divergence: null,
    events: { recorded: 37, replayed: 37, difference: null },
    says: 'The same: 11 of 11 calls, 37 events.',
  },
  Notification: {
    ...{ id: 'n_1m7hre8f5p2s6u9a3b', target: 'chat', kind: 'webhook', event: 'question.asked', task: blocked, run: null },
    ...{ state: 'sent', attempts: 1, nextAt: null, lastError: null, createdAt: begun, sentAt: '2026-01-12T08:43:59.902Z' },
  },
  NotificationTest: { target: 'chat', delivered: true, detail: 'hooks.example.org answered 200', ms: 184 },
  PushTest: { target: 'push-1m7hre9g', delivered: true, detail: 'push.example.org answered 201', ms: 231 },
  Costs: {
    ...{ since: '2026-01-12T00:00:00.000Z', until: null, timeZone: 'UTC', by: 'agent' },
    ...{
      total: spent,
      items: [{ key: 'coder', ...spent }],
      unpriced: [],
      caps: { dayUsd: 25, monthUsd: 400, userDayUsd: null },
    },
  },
  Me: { user: 'ada', standing: 'operator', token: 'k_1m7hre748332gemmf2' },
  User: { name: 'ada', role: 'operator', isDisabled: false, slots: 2, dailyTasks: 50, tasksToday: 3, createdAt: begun },
  NewUser: { name: 'ada', role: 'operator', slots: 2, dailyTasks: 50 },
  UserChanges: { role: 'operator', slots: 4 },
  Token,
  NewToken: { user: 'ada', kind: 'user', role: 'operator', name: 'laptop', expiresInDays: 90 },
  MadeToken: { ...Token, lastUsedAt: null, token: 'pawl_this-is-shown-once-and-never-again-0123456789ab' },
  AuditEntry: {
    seq: 24,
    at: ended,
    actor: 'ada',
    via: 'k_1m7hre748332gemmf2',
    action: 'sign_in',
    subject: 'k_1m7hre748332gemmf2',
    detail: {},
    hash: head,
  },
  AuditVerdict: { isWhole: true, entries: 24, head, firstBad: null },
  Backup: {
    ...{
      name: 'pawl-2026-01-12T08-51-12Z.pawl',
      id: 'b_1m7hrea4h6q3t7v0c4',
      takenAt: ended,
      pawl: '0.1.0',
      schema: 24,
      tables: 41,
    },
    ...{
      rows: 18_402,
      files: 96,
      contentBytes: 48_211_930,
      bytes: 9_133_021,
      withKeys: false,
      withWorkspaces: false,
      withLogs: true,
    },
  },
  Imported: { imported: [task], skipped: [], cut: null, isWhole: true },
  Secret: { scope: 'global', name: 'NPM_TOKEN', updatedAt: begun, updatedBy: 'ada' },
  NewSecret: { value: 'what nobody is shown again' },
  Settings: {
    ...{
      file: '/home/ada/.pawl/config.yaml',
      hash: `sha256:${tree}`,
      projectFile: null,
      waiting: [],
      problem: null,
      canUndo: true,
      untrusted: [],
      notes: [],
    },
    settings: [
      {
        ...{ path: 'limits.runs', value: 4, source: 'config.yaml:7', effect: 'now', isWritten: true },
        about: 'How many agents run at once.',
      },
    ],
  },
  SettingsChange: { set: { 'limits.runs': 6 }, hash: `sha256:${tree}` },
  SettingsChanged: {
    changed: [{ path: 'limits.runs', before: 4, after: 6, effect: 'now' }],
    ...{ overruled: [], file: '/home/ada/.pawl/config.yaml', hash: `sha256:${head}`, restart: false },
  },
  Doctor: {
    ...{ startedAt: begun, isRunning: false, home: '/home/ada/.pawl', sizeBytes: 141_221_004 },
    rows: [
      { name: 'walls', level: 'ok', detail: 'bubblewrap: ways out tried and refused, by profile: guarded 12' },
      { name: 'agent reviewer', level: 'fail', detail: 'reviewer is not installed', fix: 'npm install -g reviewer' },
    ],
  },
  SignInCode: { code: 'pawl_x3V9', path: '/sign-in?code=pawl_x3V9', expiresAt: '2026-01-12T08:48:57.862Z' },
  Halt: { at: begun, by: 'ada', reason: 'the model does strange things' },
  Template: {
    name: 'bugfix',
    text: 'Mend this, with a test that fails without it:\n\n{{prompt}}\n\n{{context}}',
    takesContext: true,
  },
  Folders: {
    path: '/srv',
    parent: '/',
    recent: [workspace],
    items: [{ name: 'shop', path: workspace, isRepository: true }],
    isCut: false,
  },
  Problem: {
    ...{ type: 'urn:pawl:problem:not_found', title: 'Not found', status: 404, code: 'not_found' },
    detail: `There is no task ${task}; "pawl ls" lists those that there are.`,
  },
}
