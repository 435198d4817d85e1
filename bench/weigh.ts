/** Loaded into a daemon before its own code: whoever started it can ask what it really needs. */
process.on('message', () => {
  // What one round frees may be the last that held something else.
  for (let round = 0; round < 4; round++) globalThis.gc?.()
  process.send?.(process.memoryUsage())
})
process.channel?.unref()
