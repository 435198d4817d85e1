'use strict'

const { existsSync } = require('node:fs')
const { enableCompileCache } = require('node:module')
const { homedir } = require('node:os')
const { join } = require('node:path')
const { pathToFileURL } = require('node:url')

// A daemon makes little garbage at a time and waits a lot: a small nursery keeps its memory small while it works, when work is over it collects by itself
// (src/daemon/rest.ts) and not in every pause, as V8 would, with most of the code that it has made quick; and its threads share one pool of the C library,
// whose holes add up. Only the start of a process can say so.
const nursery = '--max-semi-space-size=8'
if (process.argv[2] === 'serve' && process.execve && !process.execArgv.includes(nursery)) {
  const args = [...process.execArgv, nursery, '--no-memory-reducer', '--expose-gc', ...process.argv.slice(1)]
  process.execve(process.execPath, [process.execPath, ...args], { MALLOC_ARENA_MAX: '1', ...process.env })
}

const inCheckout = join(__dirname, '..', 'src', 'cli', 'main.ts')
const inPackage = join(__dirname, '..', 'dist', 'cli.js')
const isCheckout = existsSync(inCheckout)

// Not in the shared temporary folder, where it would be kept otherwise: compiled code is read back without a check of who wrote it. A daemon starts seldom and stays long,
// and Node holds what it has read there for as long as a process lives, a twentieth of its memory; sources take so much longer to read that they need it all the same.
if (isCheckout || process.argv[2] !== 'serve') enableCompileCache(join(homedir(), '.cache', 'pawl'))
import(pathToFileURL(isCheckout ? inCheckout : inPackage).href)
