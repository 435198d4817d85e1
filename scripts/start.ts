/** `npm start`: the daemon as users install it. */
import { createRequire } from 'node:module'
import { installedPawl } from './installed.ts'

const { become } = createRequire(import.meta.url)('../bin/node.js')
become(process.execPath, [await installedPawl(), 'serve', ...process.argv.slice(2)])
