/**
 * Goes before a program that wants its client to read and write files and to run commands for it, as source text: inside the walls there is no file of ours.
 * Arguments: the workspace, then the program's file and arguments.
 *
 * It passes on every line, both ways. What Pawl has allowed it says with `_pawl/serve`; that is done here, inside the same walls as the program, and answered to the
 * program as if the client had done it. So nothing that a program asks for is ever done by a process that could do more than the program itself.
 */
export const attendantSource = String.raw`
const { spawn } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const { constants } = require('node:os')
const [workspace, file, ...args] = process.argv.slice(1)
const maxFileBytes = 16 * 1024 * 1024
const maxOutputBytes = 1024 * 1024
const maxTerminals = 32
const served = '{"jsonrpc":"2.0","method":"_pawl/serve"'

const program = spawn(file, args, { stdio: ['pipe', 'pipe', 'inherit'] })
program.on('error', (error) => { console.error(error.message); process.exit(127) })
program.stdin.on('error', () => {})
process.on('SIGTERM', () => program.kill('SIGTERM'))
program.on('close', (code, signal) => process.stdout.write('', () => process.exit(signal ? 128 + constants.signals[signal] : code)))

// Whole lines, so that one of ours never falls into the middle of one of the program's.
function byLines(stream, take) {
  let held = []
  stream.on('data', (chunk) => {
    const end = chunk.lastIndexOf(10)
    if (end < 0) return held.push(chunk)
    take(Buffer.concat([...held, chunk.subarray(0, end + 1)]))
    held = [chunk.subarray(end + 1)]
  })
  stream.on('end', () => take(Buffer.concat(held)))
}
byLines(program.stdout, (lines) => { if (!process.stdout.write(lines)) { program.stdout.pause(); process.stdout.once('drain', () => program.stdout.resume()) } })
byLines(process.stdin, (lines) => {
  const text = lines.toString()
  if (!text.includes(served)) return program.stdin.write(lines)
  for (const line of text.split('\n')) {
    if (line.startsWith(served)) serve(JSON.parse(line).params)
    else if (line !== '') program.stdin.write(line + '\n')
  }
})
process.stdin.on('end', () => program.stdin.end())

const say = (to, message) => to.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\n')
async function serve({ id, method, params }) {
  try {
    const result = await methods[method](params)
    say(program.stdin, { id, result: result ?? {} })
  } catch (error) {
    say(program.stdin, { id, error: { code: error.code === 'ENOENT' ? -32002 : -32603, message: error.message } })
  }
}

function inside(wanted) {
  if (typeof wanted !== 'string' || !path.isAbsolute(wanted)) throw new Error('The path must be absolute.')
  const root = fs.realpathSync(workspace)
  let known = path.normalize(wanted)
  const missing = []
  while (!fs.existsSync(known) && known !== path.dirname(known)) {
    // A link to nowhere is there all the same, and would be followed.
    if (fs.lstatSync(known, { throwIfNoEntry: false })) throw new Error(wanted + ' is a link that leads nowhere.')
    missing.unshift(path.basename(known))
    known = path.dirname(known)
  }
  const real = fs.realpathSync(known)
  if (real !== root && !real.startsWith(root + path.sep)) throw new Error(wanted + ' is not in the workspace.')
  return path.join(real, ...missing)
}

const terminals = new Map()
const terminalOf = ({ terminalId }) => {
  const found = terminals.get(terminalId)
  if (!found) throw new Error('There is no terminal ' + terminalId + '.')
  return found
}
function outputOf(terminal) {
  let bytes = Buffer.concat(terminal.chunks)
  if (bytes.length > terminal.limit) {
    terminal.truncated = true
    let from = bytes.length - terminal.limit
    while (from < bytes.length && (bytes[from] & 0xc0) === 0x80) from++
    bytes = bytes.subarray(from)
  }
  terminal.chunks = [bytes]
  return bytes.toString()
}
function end(terminal) {
  try { process.kill(-terminal.child.pid, 'SIGKILL') } catch (error) { if (error.code !== 'ESRCH') throw error }
}

const methods = {
  'fs/read_text_file'({ path: wanted, line, limit }) {
    const found = inside(wanted)
    const info = fs.statSync(found)
    if (!info.isFile()) throw new Error(wanted + ' is no file.')
    if (info.size > maxFileBytes) throw new Error(wanted + ' is larger than 16 MB.')
    const content = fs.readFileSync(found, 'utf8')
    if (line == null && limit == null) return { content }
    const lines = content.split('\n')
    const from = Math.max((line ?? 1) - 1, 0)
    return { content: lines.slice(from, limit == null ? undefined : from + limit).join('\n') }
  },
  'fs/write_text_file'({ path: wanted, content }) {
    if (typeof content !== 'string' || Buffer.byteLength(content) > maxFileBytes) throw new Error('The content is no text of at most 16 MB.')
    const found = inside(wanted)
    fs.mkdirSync(path.dirname(found), { recursive: true })
    const { O_WRONLY, O_CREAT, O_TRUNC, O_NOFOLLOW } = fs.constants
    const open = fs.openSync(found, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0o666)
    try { fs.writeFileSync(open, content) } finally { fs.closeSync(open) }
  },
  'terminal/create'({ command, args = [], env = [], cwd, outputByteLimit }) {
    if (terminals.size >= maxTerminals) throw new Error('There are ' + maxTerminals + ' terminals already; release one.')
    const at = inside(cwd ?? workspace)
    const more = Object.fromEntries((env ?? []).map(({ name, value }) => [name, value]))
    const isLine = (args ?? []).length === 0
    const child = spawn(isLine ? '/bin/sh' : command, isLine ? ['-c', command] : args, {
      cwd: at, env: { ...process.env, ...more }, stdio: ['ignore', 'pipe', 'pipe'], detached: true,
    })
    const terminalId = 'terminal-' + require('node:crypto').randomUUID()
    const terminal = { child, chunks: [], size: 0, truncated: false, limit: Math.min(outputByteLimit ?? maxOutputBytes, maxOutputBytes) }
    const keep = (chunk) => {
      terminal.chunks.push(chunk)
      terminal.size += chunk.length
      if (terminal.size > 2 * terminal.limit + 65536) { outputOf(terminal); terminal.size = terminal.chunks[0].length }
    }
    child.stdout.on('data', keep)
    child.stderr.on('data', keep)
    terminal.exited = new Promise((done) => {
      const over = (exitStatus) => {
        terminal.exitStatus = exitStatus
        say(process.stdout, { method: '_pawl/terminal', params: { terminalId, output: outputOf(terminal) } })
        done(exitStatus)
      }
      child.on('error', (error) => { keep(Buffer.from(error.message)); over({ exitCode: 127, signal: null }) })
      child.on('close', (exitCode, signal) => over({ exitCode, signal }))
    })
    terminals.set(terminalId, terminal)
    return { terminalId }
  },
  'terminal/output'(params) {
    const terminal = terminalOf(params)
    const output = outputOf(terminal)
    return { output, truncated: terminal.truncated, ...(terminal.exitStatus ? { exitStatus: terminal.exitStatus } : {}) }
  },
  'terminal/wait_for_exit': (params) => terminalOf(params).exited,
  'terminal/kill': (params) => end(terminalOf(params)),
  'terminal/release'(params) {
    end(terminalOf(params))
    terminals.delete(params.terminalId)
  },
}
`
