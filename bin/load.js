'use strict'

const { existsSync } = require('node:fs')
const { enableCompileCache } = require('node:module')
const { homedir } = require('node:os')
const { join } = require('node:path')
const { pathToFileURL } = require('node:url')

// Not in the shared temporary folder, where it would be kept otherwise: compiled code is read back without a check of who wrote it.
enableCompileCache(join(homedir(), '.cache', 'pawl'))
const inCheckout = join(__dirname, '..', 'src', 'cli', 'main.ts')
const inPackage = join(__dirname, '..', 'dist', 'cli.js')
import(pathToFileURL(existsSync(inCheckout) ? inCheckout : inPackage).href)
