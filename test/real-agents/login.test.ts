import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { adapterNamed } from '../../src/agents/index.ts'
import type { ResolvedAgent } from '../../src/domain/agent/agent-config.ts'
import { resolveProfile } from '../../src/domain/profile/resolve.ts'
import { fingerprint } from '../model-server/record.ts'
import { installedAgents } from './install.ts'
import { claudeLogin, codexLogin, madeUpToken, startTokenEndpoint, type TokenEndpoint } from './logins.ts'
import { type Machine, type Program, programs, type Ran, startMachine } from './peer.ts'

const [claude, codex] = programs as [Program, Program]
const credentials = { claude: '.claude/.credentials.json', codex: '.codex/auth.json' }

let machine: Machine
let userHome: string
const before = { ...process.env }
beforeAll(async () => {
  // They are looked for in the home that this process has, which is another one from here on.
  await installedAgents()
  userHome = await mkdtemp(join(tmpdir(), 'pawl-user-'))
  process.env.HOME = userHome
  // A key of whoever runs the tests would be preferred to the login.
  for (const { adapter } of programs) for (const name of adapterNamed(adapter).login?.variables ?? []) delete process.env[name]
  machine = await startMachine()
})
afterAll(async () => {
  await machine.stop()
  Object.assign(process.env, before)
  rmSync(userHome, { recursive: true, force: true })
})
beforeEach(() => {
  for (const file of Object.values(credentials)) rmSync(join(userHome, file), { force: true })
})

const sourceOf = (program: Program) => join(userHome, credentials[program.agent])
const lentTo = (program: Program, session: string) => join(machine.home, 'sessions', session, credentials[program.agent])
function logIn(program: Program, text: string): void {
  mkdirSync(dirname(sourceOf(program)), { recursive: true })
  writeFileSync(sourceOf(program), text, { mode: 0o600 })
}
/** Without a key. Whatever the program might want from its maker ends at the walls. */
const keyless = (program: Program, scenario: string, changes: Partial<ResolvedAgent> = {}) =>
  machine.agent(program, scenario, { env: { pass: [], set: {} }, ...changes })
/** What the model was shown by the last request for this agent. */
const shownToModel = ({ baseUrl }: ResolvedAgent) => {
  const key = /@([\w-]+)/.exec(baseUrl ?? '')?.[1] ?? ''
  const asked = machine.models.requestsOf(key).filter((request) => request.wire !== undefined)
  return asked.at(-1)?.headers ?? {}
}
/** The files below a folder that hold a text. */
const filesWith = (text: string, folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => readFileSync(path).includes(text))
const bearer = (token: string) => fingerprint(`Bearer ${token}`)

/** Everything that Pawl keeps or says of a task, but for the program's own conversation. */
async function kept({ task, events }: Ran): Promise<string> {
  const raw = task.runs.flatMap((run) => {
    const folder = join(machine.home, 'runs', run.id)
    return readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'))
  })
  return [JSON.stringify(task), JSON.stringify(events), JSON.stringify(machine.logged), ...raw].join('\n')
}

describe.each([
  { program: claude, login: (token: string) => claudeLogin(token, 3600) },
  { program: codex, login: (token: string) => codexLogin(token, `refresh-token-of-${token.slice(-20)}`) },
])("the real $program.agent with its user's login", ({ program, login }) => {
  test('is let in by it, and no copy is left when its process has ended', async () => {
    const token = madeUpToken('first', 3600)
    logIn(program, login(token))
    const source = readFileSync(sourceOf(program), 'utf8')
    const agentConfig = keyless(program, 'text')
    const ran = await machine.run({ agentConfig })
    expect(ran.task).toMatchObject({ state: 'completed' })
    expect(shownToModel(agentConfig)).toMatchObject({ authorization: bearer(token) })
    // It waits for the next turn, and needs its login meanwhile.
    const copy = lentTo(program, ran.task.session)
    expect(statSync(copy).mode & 0o777).toBe(0o600)
    await machine.restart()
    expect(existsSync(copy)).toBe(false)
    expect(filesWith(token, join(machine.home, 'sessions', ran.task.session))).toEqual([])
    expect(readFileSync(sourceOf(program), 'utf8')).toBe(source)
    expect(await kept(ran)).not.toContain(token)
    const archived = await machine.archived(ran.task.session)
    expect(archived).toContain('first message')
    expect(archived).not.toContain(token)
  })

  test('lends it to two sessions at once', async () => {
    const token = madeUpToken('shared', 3600)
    logIn(program, login(token))
    const agents = [keyless(program, 'tool'), keyless(program, 'tool')]
    const ran = await Promise.all(agents.map(async (agentConfig) => machine.run({ agentConfig })))
    expect(ran.map(({ task }) => task.state)).toEqual(['completed', 'completed'])
    for (const agentConfig of agents) expect(shownToModel(agentConfig)).toMatchObject({ authorization: bearer(token) })
  })

  test('says nothing of it to anybody when it prints it', async () => {
    // Neither looks like a secret, so that only knowing them helps.
    const token = `plain-words-nobody-guesses-${program.agent}`
    logIn(program, login(token))
    const agentConfig = keyless(program, 'shell')
    const ran = await machine.run({ agentConfig, prompt: `run \`cat $HOME/${credentials[program.agent]} | tee seen.txt\`` })
    expect(readFileSync(join(ran.task.workspace, 'seen.txt'), 'utf8')).toContain(token)
    const said = await kept(ran)
    expect(said).toMatch(/\[redacted:access_?token\]/i)
    expect(said).not.toContain(token)
    expect(said).not.toContain('refresh-token-')
  })
})

test('the real claude whose login has ended and cannot be renewed is refused like one without a key', async () => {
  logIn(claude, claudeLogin(madeUpToken('ended', -60), -60))
  const { task } = await machine.run({ agentConfig: keyless(claude, 'auth') })
  expect(task).toMatchObject({ state: 'failed', reason: { kind: 'auth_failed' } })
})

describe('the real codex whose login has to be renewed', () => {
  let endpoint: TokenEndpoint
  const expired = madeUpToken('expired', -60)
  beforeEach(async () => {
    endpoint = await startTokenEndpoint('first-refresh-token')
    logIn(codex, codexLogin(expired, 'first-refresh-token', new Date(Date.now() - 60_000)))
    return endpoint.close
  })
  /** As somebody who has such an endpoint would write it in the settings. */
  const renewing = (scenario: string) =>
    keyless(codex, scenario, {
      env: { pass: [], set: { CODEX_REFRESH_TOKEN_URL_OVERRIDE: endpoint.url } },
      profile: 'renewing',
      rights: resolveProfile('renewing', { renewing: { network: { allow: [new URL(endpoint.url).host] } } }),
    })
  const tokens = () => JSON.parse(readFileSync(sourceOf(codex), 'utf8')).tokens as { access_token: string; refresh_token: string }

  test('renews it for its user too, and nowhere else', async () => {
    const agentConfig = renewing('text')
    const ran = await machine.run({ agentConfig })
    expect(ran.task.state).toBe('completed')
    expect(endpoint.given).toHaveLength(1)
    expect(shownToModel(agentConfig)).toMatchObject({ authorization: bearer(endpoint.given[0]!) })
    // At the end of the turn, though the program lives on: whoever logs in elsewhere must not meet a token that is used up.
    expect(tokens().access_token).toBe(endpoint.given[0])
    expect(statSync(sourceOf(codex)).mode & 0o777).toBe(0o600)
    await machine.restart()
    expect(existsSync(lentTo(codex, ran.task.session))).toBe(false)
    const everything = (await kept(ran)) + (await machine.archived(ran.task.session))
    for (const secret of [expired, endpoint.given[0]!, tokens().refresh_token]) expect(everything).not.toContain(secret)
  })

  test('gives it to its user in the middle of its turn, and says nothing of it when it prints it', async () => {
    const workspace = await machine.workspace()
    const command = `touch begun; while [ ! -e go ]; do sleep 0.05; done; cat $HOME/${credentials.codex} | tee seen.txt`
    const running = machine.run({ agentConfig: renewing('shell'), workspace, prompt: `run \`${command}\`` })
    await expect.poll(() => existsSync(join(workspace, 'begun')), { timeout: 20_000 }).toBe(true)
    await expect.poll(() => tokens().access_token).toBe(endpoint.given[0])
    writeFileSync(join(workspace, 'go'), '')
    const said = await kept(await running)
    expect(readFileSync(join(workspace, 'seen.txt'), 'utf8')).toContain(tokens().refresh_token)
    expect(said).toContain('[redacted:refresh_token]')
    for (const secret of [endpoint.given[0]!, tokens().refresh_token]) expect(said).not.toContain(secret)
  })

  test('goes on with the renewed one in the next session', async () => {
    await machine.run({ agentConfig: renewing('text') })
    const agentConfig = renewing('text')
    expect((await machine.run({ agentConfig })).task.state).toBe('completed')
    expect(shownToModel(agentConfig)).toMatchObject({ authorization: bearer(endpoint.given[0]!) })
    expect(endpoint).toMatchObject({ given: [expect.any(String)], refused: 0 })
  })

  test('does not overwrite the login of a user who logged in again meanwhile', async () => {
    const later = codexLogin(madeUpToken('later', 7200), 'later-refresh-token', new Date(Date.now() + 60_000))
    const agentConfig = renewing('shell')
    const workspace = await machine.workspace()
    const running = machine.run({ agentConfig, workspace, prompt: 'run `touch begun; while [ ! -e go ]; do sleep 0.05; done`' })
    await expect.poll(() => existsSync(join(workspace, 'begun')), { timeout: 20_000 }).toBe(true)
    logIn(codex, later)
    writeFileSync(join(workspace, 'go'), '')
    expect((await running).task.state).toBe('completed')
    expect(endpoint.given).toHaveLength(1)
    expect(readFileSync(sourceOf(codex), 'utf8')).toBe(later)
  })

  test('renews it once for two sessions that begin at once', async () => {
    const agents = [renewing('text'), renewing('text')]
    const ran = await Promise.all(agents.map((agentConfig) => machine.run({ agentConfig })))
    expect(ran.map(({ task }) => task.state)).toEqual(['completed', 'completed'])
    expect(endpoint).toMatchObject({ given: [tokens().access_token], refused: 0 })
    for (const agentConfig of agents)
      expect(shownToModel(agentConfig)).toMatchObject({ authorization: bearer(endpoint.given[0]!) })
  })

  test('leaves the login alone of a user who has logged in as somebody else meanwhile, though it was not renewed as late', async () => {
    const begun = await machine.run({ agentConfig: renewing('text') })
    const key = JSON.stringify({ OPENAI_API_KEY: 'the-key-of-somebody-else', tokens: null, last_refresh: null })
    logIn(codex, key)
    await machine.restart()
    expect(existsSync(lentTo(codex, begun.task.session))).toBe(false)
    expect(readFileSync(sourceOf(codex), 'utf8')).toBe(key)
  })
})

test('the real codex logged in with a key instead of an account is let in by that key', async () => {
  const key = 'a-key-that-codex-was-logged-in-with'
  logIn(codex, JSON.stringify({ OPENAI_API_KEY: key, tokens: null, last_refresh: null }))
  const agentConfig = keyless(codex, 'text')
  expect((await machine.run({ agentConfig })).task.state).toBe('completed')
  expect(shownToModel(agentConfig)).toMatchObject({ authorization: bearer(key) })
})

describe.each(programs)('the real $agent with a key from a file', (program) => {
  test('is let in by it, and its printing it is told to nobody', async () => {
    const key = `another-key-in-plain-words-${program.agent}`
    const file = join(userHome, 'key.txt')
    writeFileSync(file, `${key}\n`)
    const agentConfig = keyless(program, 'shell', { auth: { file }, gateway: false })
    const ran = await machine.run({ agentConfig, prompt: 'run `tr "\\0" "\\n" < /proc/$PPID/environ | tee seen.txt`' })
    expect(ran.task.state).toBe('completed')
    const { authorization, 'x-api-key': apiKey } = shownToModel(agentConfig)
    expect([authorization, apiKey]).toContain(program === claude ? fingerprint(key) : bearer(key))
    expect(readFileSync(join(ran.task.workspace, 'seen.txt'), 'utf8')).toContain(key)
    expect(await kept(ran)).not.toContain(key)
  })
})

test('the real claude that is served by the gateway has the token of its door from the script, and not the key', async () => {
  const key = 'a-key-that-stays-outside-0123456789'
  process.env.PAWL_TEST_WORK = key
  const agentConfig = keyless(claude, 'shell', { auth: { env: ['PAWL_TEST_WORK'], via: 'script' } })
  const command = 'sh $HOME/.pawl-key > seen.txt; test "$(cat seen.txt)" = "$PAWL_DOOR_TOKEN" && echo the same'
  const ran = await machine.run({ agentConfig, prompt: `run \`${command}\`` })
  delete process.env.PAWL_TEST_WORK
  expect(ran.task).toMatchObject({ state: 'completed', result: { text: expect.stringContaining('the same') } })
  expect(shownToModel(agentConfig)).toMatchObject({ 'x-api-key': fingerprint(key) })
  expect(readFileSync(join(ran.task.workspace, 'seen.txt'), 'utf8')).not.toContain(key)
})

test('the real claude with a key from a script is let in by it, finds it in no variable, and its printing it is told to nobody', async () => {
  const key = `a-key-of-"odd"-signs-&-it's-long`
  process.env.PAWL_TEST_WORK = key
  const agentConfig = keyless(claude, 'shell', { gateway: false, auth: { env: ['PAWL_TEST_WORK'], via: 'script' } })
  const command = 'sh $HOME/.pawl-key | tee seen.txt; tr "\\0" "\\n" < /proc/$PPID/environ > variables.txt'
  const ran = await machine.run({ agentConfig, prompt: `run \`${command}\`` })
  delete process.env.PAWL_TEST_WORK
  expect(ran.task.state).toBe('completed')
  expect(shownToModel(agentConfig)).toMatchObject({ 'x-api-key': fingerprint(key) })
  const [seen, variables] = ['seen.txt', 'variables.txt'].map((name) => readFileSync(join(ran.task.workspace, name), 'utf8'))
  expect(seen).toBe(key)
  expect(variables).toContain('CLAUDE_CONFIG_DIR')
  expect(variables).not.toContain(key)
  const said = await kept(ran)
  expect(said).toContain('[redacted:PAWL_TEST_WORK]')
  expect(said).not.toContain('-signs-')
  await machine.restart()
  expect(existsSync(join(machine.home, 'sessions', ran.task.session, '.pawl-key'))).toBe(false)
})
