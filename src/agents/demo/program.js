/**
 * The demo agent: looks at the folder it is started in, asks one question, and writes `pawl-demo.md` there.
 * Plain JavaScript without dependencies, so that any Node can run it by itself. Prompt on stdin; records on stdout, one JSON object per line:
 *   {type:'session',id} {type:'text',text} {type:'tool',id,name,input} {type:'tool_result',id,output,isError}
 *   {type:'asked',id} {type:'result',text,isError,code?,usage?}
 * Options: --no-question, --resume ID. After `asked` it ends without a result; resumed, its prompt is the answer.
 */
import { randomBytes } from 'node:crypto'
import { appendFileSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { extname, join } from 'node:path'

const reportName = 'pawl-demo.md'
const options = ['the kinds of files', 'the largest files']
const maxFiles = 20_000
const skipped = new Set(['.git', 'node_modules', reportName])
const sessionsFolder = join(process.env.HOME || homedir(), '.pawl-demo')

class Refusal extends Error {
  constructor(code, message) {
    super(message)
    this.code = code
  }
}

let calls = 0

try {
  process.exitCode = await main()
} catch (thrown) {
  const code = thrown instanceof Refusal ? thrown.code : undefined
  say({ type: 'result', text: thrown instanceof Error ? thrown.message : String(thrown), isError: true, ...(code && { code }) })
  process.exitCode = 1
}

async function main() {
  const given = readArguments(process.argv.slice(2))
  const prompt = (await readInput()).trim()
  const session = given.resume ? loadSession(given.resume) : newSession()
  say({ type: 'session', id: session.id })

  // After a crash whatever it was told comes again: the prompt, with a word about the crash before it, or the answer.
  const again = prompt === session.prompt || prompt.endsWith(`\n\n${session.prompt}`)
  const isOpen = session.state === 'asking' || session.unheard === true
  // One of the choices is an answer even where the prompt was the same words: it would ask for ever otherwise.
  const answered = (isOpen && options.includes(prompt)) || (!again && (isOpen || prompt === session.answer))
  const answer = answered ? prompt : undefined
  Object.assign(session, { prompt: answered || again ? session.prompt : prompt, state: 'working', answer, unheard: undefined })
  saveSession(session)

  const seen = await useTool('list_files', { folder: '.' }, async () => {
    const found = lookAround()
    return { value: found, output: inWords(found) }
  })
  say({ type: 'text', text: `I found ${inWords(seen)}.` })

  const wantsToAsk = !answered && given.ask && !session.prompt.split(/\s+/).includes('--no-question')
  const asked = wantsToAsk ? await ask(session) : undefined
  if (asked?.id) {
    say({ type: 'asked', id: asked.id })
    return 0
  }
  if (asked) say({ type: 'text', text: `I did not ask my question: ${asked.why}.` })

  await useTool('write_file', { file: reportName }, async () => {
    writeReport(report(session.prompt, seen, answer))
    return { value: undefined, output: `${reportName} written` }
  })
  session.state = 'done'
  saveSession(session)
  say({ type: 'result', text: summary(session.prompt, seen, answer, asked), isError: false, usage: { turns: 1 } })
  return 0
}

function readArguments(words) {
  const given = { ask: true, resume: undefined }
  while (words.length > 0) {
    const word = words.shift()
    if (word === '--no-question') given.ask = false
    else if (word === '--resume') given.resume = words.shift() ?? ''
    else throw new Refusal('bad_config', `The demo program does not know the option ${word}.`)
  }
  return given
}

async function readInput() {
  let text = ''
  for await (const chunk of process.stdin.setEncoding('utf8')) text += chunk
  return text
}

function newSession() {
  return { id: `demo-${randomBytes(8).toString('hex')}`, state: 'working', prompt: '' }
}

function loadSession(id) {
  if (!/^demo-[0-9a-f]{16}$/.test(id))
    throw new Refusal('session_missing', `${JSON.stringify(id)} is not a session of the demo agent.`)
  const session = statesIn(join(sessionsFolder, id)).findLast((state) => state.id === id && typeof state.prompt === 'string')
  if (session) return session
  throw new Refusal('session_missing', `The session ${id} is not in this home any more.`)
}

/** Every state a session was in, one per line. A line that a power cut left unfinished is none. */
function statesIn(file) {
  try {
    return readFileSync(file, 'utf8').split('\n').flatMap(stateIn)
  } catch (thrown) {
    if (thrown.code === 'ENOENT') return []
    throw thrown
  }
}

function stateIn(line) {
  try {
    return line === '' ? [] : [Object(JSON.parse(line))]
  } catch (thrown) {
    if (thrown instanceof SyntaxError) return []
    throw thrown
  }
}

/** The file only grows. Each line brings the break before it, so that an unfinished one spoils no other. */
function saveSession(session) {
  mkdirSync(sessionsFolder, { recursive: true })
  appendFileSync(join(sessionsFolder, session.id), `\n${JSON.stringify(session)}`)
}

function lookAround() {
  const found = { files: 0, bytes: 0, kinds: new Map(), largest: [], complete: true }
  const folders = ['.']
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const entry of entriesOf(folder)) {
      if (skipped.has(entry.name)) continue
      const path = join(folder, entry.name)
      if (entry.isDirectory()) folders.push(path)
      if (!entry.isFile()) continue
      if (found.files === maxFiles) return { ...found, complete: false }
      const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0
      const kind = extname(entry.name).toLowerCase() || 'no extension'
      found.files++
      found.bytes += size
      found.kinds.set(kind, (found.kinds.get(kind) ?? 0) + 1)
      found.largest = [...found.largest, { path, size }].sort((a, b) => b.size - a.size).slice(0, 5)
    }
  }
  return found
}

function entriesOf(folder) {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch (thrown) {
    if (folder === '.') throw new Refusal('workspace_error', `The workspace cannot be read: ${thrown.message}.`)
    return []
  }
}

async function ask(session) {
  const url = process.env.PAWL_DOOR_URL
  if (!url) return { why: 'there is no door here to ask through' }
  session.state = 'asking'
  saveSession(session)
  const text = `What shall ${reportName} put first: ${options.join(' or ')}?`
  let unheard = true
  try {
    // No tool call is told of it: the question itself is in the journal.
    const response = await fetch(`${url}/v1/questions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${process.env.PAWL_DOOR_TOKEN ?? ''}` },
      body: JSON.stringify({ text, options }),
      signal: AbortSignal.timeout(10_000),
    })
    unheard = response.status === 202
    if (!unheard) throw new Error(`the door answered ${response.status}`)
    const { id } = await response.json()
    if (typeof id !== 'string') throw new Error('the door named no question')
    return { id }
  } catch (thrown) {
    // Without a word from the door the question may have been kept, and its answer may come yet.
    Object.assign(session, { state: 'working', unheard: unheard || undefined })
    saveSession(session)
    return { why: thrown.cause?.message || thrown.message }
  }
}

function report(prompt, seen, answer) {
  const kinds = [...seen.kinds].sort((a, b) => b[1] - a[1]).map(([kind, count]) => `- ${kind}: ${count}`)
  const largest = seen.largest.map(({ path, size }) => `- \`${path}\`: ${size} bytes`)
  const sections = [
    ['## Kinds of files', '', ...kinds, ''],
    ['## Largest files', '', ...largest, ''],
  ]
  if (answer && /largest/i.test(answer)) sections.reverse()
  const asked = answer === undefined ? [] : ['## My question', '', `Answer: ${quoted(answer)}`, '']
  return [
    '# What the demo agent found',
    '',
    `Asked for: ${quoted(prompt)}`,
    '',
    `${inWords(seen)}.`,
    '',
    ...asked,
    ...sections.flat(),
  ].join('\n')
}

function summary(prompt, seen, answer, asked) {
  const lines = [`You asked: ${quoted(prompt)}`, `I looked at ${inWords(seen)} and wrote ${reportName}.`]
  if (answer !== undefined) lines.push(`Your answer was: ${quoted(answer)}`)
  if (asked?.why) lines.push(`I asked nothing: ${asked.why}.`)
  lines.push('I am only a demo: I do the same whatever I am asked.')
  return lines.join('\n')
}

function inWords({ files, bytes, kinds, complete }) {
  return `${complete ? '' : 'more than '}${files} ${files === 1 ? 'file' : 'files'} of ${kinds.size} ${kinds.size === 1 ? 'kind' : 'kinds'}, ${bytes} bytes`
}

function quoted(text) {
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length > 200 ? `${line.slice(0, 200).toWellFormed?.() ?? line.slice(0, 200)} …` : line
}

function writeReport(text) {
  try {
    replaceFile(reportName, text)
  } catch (thrown) {
    throw new Refusal('workspace_error', `${reportName} could not be written: ${thrown.message}.`)
  }
}

/** Never half a file, and never through a link that somebody put in its place. */
function replaceFile(file, text) {
  const begun = `${file}.${randomBytes(6).toString('hex')}.new`
  try {
    writeFileSync(begun, text, { flag: 'wx' })
    renameSync(begun, file)
  } catch (thrown) {
    rmSync(begun, { force: true })
    throw thrown
  }
}

async function useTool(name, input, work) {
  const id = `call-${++calls}`
  say({ type: 'tool', id, name, input })
  try {
    const { value, output } = await work()
    say({ type: 'tool_result', id, output, isError: false })
    return value
  } catch (thrown) {
    say({ type: 'tool_result', id, output: thrown.message, isError: true })
    throw thrown
  }
}

function say(record) {
  process.stdout.write(`${JSON.stringify(record)}\n`)
}
