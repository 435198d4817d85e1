// Which Node runs Pawl. ES5 only: see bin/pawl.
'use strict'

var childProcess = require('child_process')
var fs = require('fs')
var os = require('os')
var path = require('path')

var floor = '22.18'

/** True if a Node of this version can run Pawl. */
function isNewEnough(version) {
  var has = version.split('.').map(Number)
  var needs = floor.split('.').map(Number)
  return has[0] > needs[0] || (has[0] === needs[0] && has[1] >= needs[1])
}

/** The Node that came with the install: beside the package, or hoisted to a folder above it. Undefined if there is none. */
function findBundledNode(from, platform, arch) {
  for (var folder = from; ; folder = path.dirname(folder)) {
    var modules = path.join(folder, 'node_modules')
    var own = path.join(modules, 'node-' + platform + '-' + arch)
    if (isNewEnough(packageVersion(own))) return path.join(own, 'bin', 'node')
    var linked = path.join(modules, '.bin', 'node')
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
  var answer = childProcess.spawnSync(program, ['-p', 'process.versions.node'], { encoding: 'utf8', timeout: 10000 })
  return answer.status === 0 ? answer.stdout.trim() : '0'
}

/** Goes on as that Node: same arguments, streams, signals and exit code. */
function become(program, args) {
  if (process.execve) return process.execve(program, [program].concat(args), process.env)
  var child = childProcess.spawn(program, args, { stdio: 'inherit' })
  // A terminal sends Ctrl-C to the whole foreground group, the child included; passing it on would make it twice.
  var atTerminal = process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY
  var passOn = function (signal) {
    process.on(signal, function () {
      if (signal !== 'SIGINT' || !atTerminal) child.kill(signal)
    })
  }
  ;['SIGINT', 'SIGTERM', 'SIGHUP'].forEach(passOn)
  child.on('error', function (error) {
    process.stderr.write('pawl: cannot start ' + program + ': ' + error.message + '\n')
    process.exit(2)
  })
  child.on('exit', function (code, signal) {
    if (!signal) process.exit(code)
    process.removeAllListeners(signal)
    process.kill(process.pid, signal)
    // Reached only if the signal does not end a process by itself.
    setTimeout(function () {
      process.exit(128 + (os.constants.signals[signal] || 0))
    }, 1000)
  })
}

module.exports = { floor: floor, isNewEnough: isNewEnough, findBundledNode: findBundledNode, become: become }
