'use strict'

// Loaded into a Pawl before its own code: writes down every module that it loads.
const { appendFileSync } = require('node:fs')
const { registerHooks } = require('node:module')

registerHooks({
  load(url, context, next) {
    appendFileSync(process.env.NOTE_LOADED, `${url}\n`)
    return next(url, context)
  },
})
