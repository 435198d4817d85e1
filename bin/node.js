// Which Node runs Pawl. Nothing newer than ES2015: see bin/pawl. What starts processes is loaded only where it is needed: every command pays for the rest.
// biome-ignore-all lint/style/useNodejsImportProtocol: old Node does not know it
// biome-ignore-all lint/complexity/useOptionalChain: nor that
'use strict'

const fs = require('fs')
const os = require('os')
const path = require('path')

const floor = '22.18'

/** True if a Node of this version can run Pawl. */
function isNewEnough(version) {
  const has = version.split('.').map(Number)
  const needs = floor.split('.').map(Number)
  return has[0] > needs[0] || (has[0] === needs[0] && has[1] >= needs[1])
}

/** The Node that came with the install: beside the package, or hoisted to a folder above it. Undefined if there is none. */
function findBundledNode(from, platform, arch) {
  for (let folder = from; ; folder = path.dirname(folder)) {
    const modules = path.join(folder, 'node_modules')
    const own = path.join(modules, `node-${platform}-${arch}`)
    if (isNewEnough(packageVersion(own))) return path.join(own, 'bin', 'node')
    const linked = path.join(modules, '.bin', 'node')
    if (fs.existsSync(linked) && isNewEnough(versionOf(linked))) return linked
    if (folder === path.dirname(folder)) return undefined
  }
}

function packageVersion(folder) {
  try {
    fs.accessSync(path.join(folder, 'bin', 'node'), fs.constants.X_OK)
    return JSON.parse(fs.readFileSync(path.join(folder, 'package.json'), 'utf8')).version
  } catch (error) {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR' || error.code === 'EACCES') return '0'
    throw error
  }
}

function versionOf(program) {
  const answer = require('child_process').spawnSync(program, ['-p', 'process.versions.node'], {
    encoding: 'utf8',
    timeout: 10000,
  })
  return answer.status === 0 ? answer.stdout.trim() : '0'
}

/** Goes on as that Node: same arguments, streams, signals and exit code. */
function become(program, args) {
  if (process.execve) process.execve(program, [program].concat(args), process.env)
  let child
  const passOn = (signal) => process.on(signal, () => child && child.kill(signal))
  // At a terminal the child must stay in our group to be in the foreground, and gets what is sent to the group by itself; Ctrl-C always is.
  // Elsewhere it gets a group of its own, so that every signal reaches it once: through us. It ends when we are gone.
  const isTerminal = process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY
  if (isTerminal) process.on('SIGINT', () => {})
  else passOn('SIGINT')
  passOn('SIGTERM')
  passOn('SIGHUP')
  const all = isTerminal ? args : ['--require', path.join(__dirname, 'end-with-parent.js')].concat(args)
  child = require('child_process').spawn(program, all, { stdio: 'inherit', detached: !isTerminal })
  child.on('error', (error) => {
    process.stderr.write(`pawl: cannot start ${program}: ${error.message}\n`)
    process.exit(2)
  })
  child.on('exit', (code, signal) => {
    if (!signal) process.exit(code)
    process.removeAllListeners(signal)
    process.kill(process.pid, signal)
    // Reached only if the signal does not end a process by itself.
    setTimeout(() => process.exit(128 + (os.constants.signals[signal] || 0)), 1000)
  })
}

module.exports = { floor, isNewEnough, findBundledNode, become }
