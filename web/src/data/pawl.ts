import { createClientOver } from '../../../src/client/client.ts'
import { browserTransport } from './transport.ts'

/** The same verbs as everywhere else. */
export const pawl = createClientOver(browserTransport, { name: 'page' })
