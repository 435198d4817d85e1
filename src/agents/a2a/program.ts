import { readFileSync } from 'node:fs'
import { ownProgram } from '../shared/own-program.ts'

/** The client that talks to remote agents. */
export const program = ownProgram('a2a', {
  sources: ['agents/shared/program-lines.ts', 'domain/base/object.ts', 'sandbox/egress/address-class.ts'],
  // Cards are judged outside, so what the library needs to check signatures with stays there.
  libraries: () => ({
    'node_modules/@a2a-js/sdk/package.json': '{"type":"module","exports":{"./client":"./client.js"}}',
    'node_modules/@a2a-js/sdk/client.js': readFileSync(new URL(import.meta.resolve('@a2a-js/sdk/client')), 'utf8'),
    'node_modules/jose/package.json': '{"type":"module","exports":"./index.js"}',
    'node_modules/jose/index.js': 'export {}\n',
  }),
})
